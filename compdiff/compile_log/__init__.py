"""What a compiler writes of its work, as data: the structured trace and the generated wrapper. torch is not needed."""

from compdiff.compile_log.log import CompileLog, compile_id
from compdiff.compile_log.wrapper import same_op, wrapper_calls

__all__ = ["CompileLog", "compile_id", "same_op", "wrapper_calls"]
