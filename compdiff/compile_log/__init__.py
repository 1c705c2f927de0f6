"""What a compiler writes of its work, as data: the structured trace and the generated wrapper. torch is not needed."""

from compdiff.compile_log.graph_run import GraphRun
from compdiff.compile_log.log import CompileLog, compile_id
from compdiff.compile_log.wrapper import call_kind, same_op, wrapper_calls

__all__ = ["CompileLog", "GraphRun", "call_kind", "compile_id", "same_op", "wrapper_calls"]
