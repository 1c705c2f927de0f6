"""The table of rules, first match wins. In: nothing. Out: RULES, RULE_NAMES. Adding a rule is one row here and one case."""

from compdiff.align.op_names import EPILOGUES, LIBRARY_CALLS
from compdiff.align.traces import ALLOCATIONS, SHAPED_LIKE
from compdiff.rewrites import conditions as c
from compdiff.rewrites.pattern_rules import PATTERN_RULES
from compdiff.rewrites.predicates import RANDOM
from compdiff.rewrites.rule import Rule

_IN_FLOAT32 = (
    "With float16 or bfloat16, values between the ops stay in float32, where eager mode rounds each "
    "(emulate_precision_casts=True rounds them too)."
)
_ONE_ROUNDING = "With float16 or bfloat16, the product need not be rounded before the addition, as it is in eager mode."
_LOSSES = frozenset(
    {
        "aten::binary_cross_entropy",
        "aten::binary_cross_entropy_with_logits",
        "aten::huber_loss",
        "aten::mse_loss",
        "aten::mse_loss_backward",
        "aten::nll_loss2d_forward",
        "aten::nll_loss_backward",
        "aten::nll_loss_forward",
        "aten::smooth_l1_loss",
        "aten::xlogy",
    }
)
_EMBEDDINGS = frozenset({"aten::embedding", "aten::embedding_dense_backward"})
BATCH_NORMS = frozenset(
    {
        "aten::_native_batch_norm_legit_no_training",
        "aten::native_batch_norm",
        "aten::cudnn_batch_norm",
    }
)
_CONSTANTS = frozenset(
    {
        "aten::arange",
        "aten::eye",
        "aten::full",
        "aten::linspace",
        "aten::ones",
        "aten::scalar_tensor",
        "aten::tensor",
        "aten::zeros",
        *SHAPED_LIKE,
    }
)
# Targets of post-grad nodes that reduce: a kernel with one is a reduction kernel.
REDUCTION_TARGETS = frozenset(
    {
        "aten.all.default",
        "aten.all.dim",
        "aten.amax.default",
        "aten.amin.default",
        "aten.any.default",
        "aten.any.dim",
        "aten.argmax.default",
        "aten.argmin.default",
        "aten.cumsum.default",
        "aten.max.default",
        "aten.max.dim",
        "aten.mean.default",
        "aten.mean.dim",
        "aten.min.default",
        "aten.min.dim",
        "aten.prod.default",
        "aten.sum.default",
        "aten.sum.dim_IntList",
        "aten.var.correction",
        "aten.var_mean.correction",
        "prims.xor_sum.default",
    }
)

# What the rows of one rule tell the reader, whichever way it was found.
_FOLDED = "The values are known at compile time: they stand in the kernel as constants and are never stored."
_BATCH_NORM_FOLDED = "The batch norm's scale and shift were multiplied into the convolution's weights at compile time."
_IN_AN_EPILOGUE = "The op after a library call runs in that call's epilogue; the tensor between them is never stored."
_PATTERN = "A pattern of the compiler put another library call in the op's place."
_ONE_ADDMM = "A matrix product and the addition after it became one addmm: one dispatcher op fewer."
_SPLIT_ADDMM = (
    "addmm was split into a plain matrix product and an addition, so that the addition can join the "
    "pointwise kernel that follows."
)
_ONE_ATTENTION = (
    "The written-out attention was recognised and became one scaled_dot_product_attention call, "
    "which never stores the score matrix."
)

RULES: tuple[Rule, ...] = (
    *PATTERN_RULES,
    Rule(
        name="sdpa-pattern",
        fate="rewritten",
        scope="pass",
        passes=(r"/_sfdp_",),
        why=_ONE_ATTENTION,
        source="torch/_inductor/fx_passes/fuse_attention.py",
        case="attention_manual",
    ),
    Rule(
        name="mm-add-to-addmm",
        fate="rewritten",
        scope="pass",
        passes=(r"^post_grad/[^/]*/addmm ",),
        why=_ONE_ADDMM,
        source="torch/_inductor/fx_passes/post_grad.py: addmm",
        case="linear",
        arithmetic=_ONE_ROUNDING,
    ),
    Rule(
        name="mm-add-to-addmm",
        fate="rewritten",
        scope="library",
        ops=frozenset({"aten::addmm", "aten::baddbmm"}),
        why=_ONE_ADDMM,
        source="torch/_inductor/fx_passes/post_grad.py: addmm",
        case="linear",
        arithmetic=_ONE_ROUNDING,
    ),
    Rule(
        name="sdpa-pattern",
        fate="rewritten",
        scope="library",
        ops=frozenset(row.name for row in LIBRARY_CALLS if "scaled_dot_product" in row.name),
        why=_ONE_ATTENTION,
        source="torch/_inductor/fx_passes/fuse_attention.py",
        case="attention_manual",
    ),
    Rule(
        name="matmul-padded",
        fate="rewritten",
        scope="pass",
        passes=(r" torch/_inductor/fx_passes/pad_mm\.py",),
        why="The matrices were copied into larger ones, padded with zeros to sizes that tensor cores work on, and the "
        "result is cut out of the larger product.",
        source="torch/_inductor/fx_passes/pad_mm.py",
        case="matmul_padded",
        arithmetic="The larger product may run in another kernel, which adds in another order.",
    ),
    Rule(
        name="addmm-unfused-bias",
        fate="rewritten",
        scope="pass",
        passes=(r"/unfuse_bias_add_to_pointwise ",),
        why=_SPLIT_ADDMM,
        source="torch/_inductor/fx_passes/post_grad.py: unfuse_bias_add_to_pointwise",
        case="unfused_bias",
    ),
    Rule(
        name="online-softmax",
        fate="fused",
        scope="pass",
        passes=(r"prepare_softmax",),
        why="The maximum and the sum of softmax are computed in one pass over the data.",
        source="torch/_inductor/fx_passes/post_grad.py: prepare_softmax",
        case="softmax",
    ),
    Rule(
        name="dtype-roundtrip-removed",
        fate="rewritten",
        scope="pass",
        passes=(r"/pointless_convert ",),
        why="A chain of dtype conversions became the last one alone, or none.",
        source="torch/_inductor/fx_passes/joint_graph.py: pointless_convert",
        case="two_dtypes",
    ),
    Rule(
        name="conv-bn-folded",
        fate="folded",
        scope="pass",
        passes=(r"/folded_op ", r"fuse_conv_bn"),
        ops=BATCH_NORMS,
        why=_BATCH_NORM_FOLDED,
        source="torch/_inductor/fx_passes/binary_folding.py: folded_op",
        case="conv_bn_relu",
    ),
    Rule(
        name="epilogue-fusion",
        fate="fused",
        scope="pass",
        passes=(r"^post_grad/.*mkldnn_fusion\.py",),
        why=_IN_AN_EPILOGUE,
        source="torch/_inductor/fx_passes/mkldnn_fusion.py",
        case="conv_bn_relu",
    ),
    Rule(
        name="conv-bn-folded",
        fate="folded",
        scope="op",
        ops=BATCH_NORMS,
        when=(c.NO_WORK_LEFT,),
        why=_BATCH_NORM_FOLDED,
        source="torch/_inductor/fx_passes/pre_grad.py: fuse_conv_bn; fx_passes/binary_folding.py",
        case="conv_bn_relu",
    ),
    Rule(
        name="other-code-path",
        fate="rewritten",
        scope="path",
        when=(c.TAKES_ANOTHER_WAY,),
        why="Compiled, the function takes another way (it asks torch.compiler.is_compiling() or the like).",
        source="torch/compiler/__init__.py: is_compiling, is_dynamo_compiling",
        case="compiled_otherwise",
    ),
    Rule(
        name="other-code-path",
        fate="rewritten",
        scope="path",
        when=(c.CALLED_OTHERWISE,),
        why="This line runs when compiled too, but what Dynamo traced there does not make this call: code before it "
        "took another way, and hands it other arguments (attention with a mask on one side alone).",
        source="torch/compiler/__init__.py: is_compiling, is_dynamo_compiling",
        case="masked_otherwise",
    ),
    Rule(
        name="other-code-path",
        fate="rewritten",
        scope="path",
        when=(c.HAS_THE_NEIGHBOURS_OF_OTHER_WORK,),
        why="Between the same neighbours the other side runs another call: the function takes another way there, or a "
        "pattern put that call in the place of these. A trace does not tell which.",
        source="torch/compiler/__init__.py: is_compiling; torch/_inductor/pattern_matcher.py",
        case="compiled_otherwise",
    ),
    Rule(
        name="addmm-unfused-bias",
        fate="rewritten",
        scope="op",
        when=(c.GUESSED_TO_BE_SPLIT,),
        why=_SPLIT_ADDMM,
        source="torch/_inductor/fx_passes/post_grad.py: unfuse_bias_add_to_pointwise",
        case="unfused_bias",
    ),
    Rule(
        name="conv-bn-folded",
        fate="folded",
        scope="op",
        ops=BATCH_NORMS,
        when=(c.GUESSED_IN_A_LIBRARY_CALL,),
        why=_BATCH_NORM_FOLDED,
        source="torch/_inductor/fx_passes/binary_folding.py: folded_op",
        case="conv_bn_relu",
    ),
    Rule(
        name="epilogue-fusion",
        fate="fused",
        scope="op",
        ops=frozenset(f"aten::{name}{ending}" for name in EPILOGUES for ending in ("", "_")),
        when=(c.GUESSED_IN_A_LIBRARY_CALL,),
        why=_IN_AN_EPILOGUE,
        source="torch/_inductor/fx_passes/mkldnn_fusion.py",
        case="conv_bn_relu",
    ),
    Rule(
        name="compiler-pattern",
        fate="rewritten",
        scope="op",
        when=(c.GUESSED_IN_A_LIBRARY_CALL,),
        why=_PATTERN,
        source="torch/_inductor/pattern_matcher.py",
        case="conv_frozen",
    ),
    Rule(
        name="other-layout",
        fate="rewritten",
        scope="op",
        when=(c.OF_ANOTHER_LAYOUT,),
        why="Compiled, the function takes another way before this op, and its input comes in another layout: the op makes "
        "other calls on it, or needs no copy of it.",
        source="torch/compiler/__init__.py: is_compiling; aten/src/ATen/native/LinearAlgebra.cpp: matmul",
        case="layout_otherwise",
    ),
    Rule(
        name="dead-code",
        fate="eliminated",
        scope="op",
        when=(c.NOT_NEEDED, c.TRACED, c.NO_WORK_LEFT),
        why="Nothing uses the result, so the op is not computed.",
        source="torch/fx/graph.py: eliminate_dead_code, called by AOTAutograd",
        case="dead_code",
    ),
    Rule(
        name="dead-code",
        fate="eliminated",
        scope="op",
        when=(c.LEFT_OUT_BY_DYNAMO,),
        why="Nothing uses the result, and Dynamo's graph no longer holds the op.",
        source="torch/_dynamo/output_graph.py: remove_unused_graphargs",
        case="unused_index",
    ),
    Rule(
        name="empty-result",
        fate="eliminated",
        scope="op",
        when=(c.GIVES_NO_ELEMENTS, c.TRACED, c.NO_WORK_LEFT),
        why="The result has no elements, as cuDNN's reserve where it keeps nothing: there is nothing to compute.",
        source="torch/_inductor/scheduler.py: NopKernelSchedulerNode",
        case="batch_norm_training",
    ),
    Rule(
        name="view-elimination",
        fate="eliminated",
        scope="op",
        when=(c.ONLY_VIEWS, c.TRACED, c.MADE_BY_NO_OP_CALL),
        why="The view is not made as a tensor: the code that follows reads the memory with other strides.",
        source="torch/_inductor/lowering.py: views become index arithmetic; wrapper: reinterpret_tensor",
        case="nn_linear",
    ),
    Rule(
        name="common-subexpression",
        fate="eliminated",
        scope="op",
        when=(
            c.LOOKS_LIKE_AN_EARLIER_CALL,
            c.DRAWS_NO_RANDOM_NUMBERS,
            c.SAME_CONTENTS,
            c.TRACED,
            c.COMPUTED_ONCE,
        ),
        why="The same op on the same contents was called before; it is computed once.",
        source="torch/_functorch/compile_utils.py: fx_graph_cse; torch/_inductor/codegen/common.py: CSE",
        case="cse",
    ),
    Rule(
        name="common-subexpression",
        fate="eliminated",
        scope="op",
        when=(c.MERGED_WITH_AN_EQUAL_NODE, c.NO_WORK_LEFT),
        why="The compiler's graph holds the same op on the same inputs before; it is computed once.",
        source="torch/_functorch/compile_utils.py: fx_graph_cse",
        case="cse",
    ),
    Rule(
        name="constant-folded",
        fate="folded",
        scope="pass",
        passes=(r"constant_fold",),
        when=(c.READS_NO_TENSOR, c.TRACED, c.RUNS_BESIDE_OTHER_WORK),
        why=_FOLDED,
        source="torch/_inductor/fx_passes/joint_graph.py: constant_fold_uniform_value",
        case="constant_fold",
    ),
    Rule(
        name="constant-folded",
        fate="folded",
        scope="op",
        ops=_CONSTANTS,
        when=(c.READS_NO_TENSOR, c.TRACED, c.RUNS_BESIDE_OTHER_WORK),
        why=_FOLDED,
        source="torch/_inductor/lowering.py: full, iota; torch/_inductor/constant_folding.py",
        case="constant_fold",
    ),
    Rule(
        name="constant-folded",
        fate="folded",
        scope="op",
        when=(c.COMES_FROM_CONSTANTS,),
        why=_FOLDED,
        source="torch/fx/experimental/proxy_tensor.py: proxy_call; torch/_inductor/constant_folding.py",
        case="constant_fold",
    ),
    Rule(
        name="constant-folded",
        fate="folded",
        scope="op",
        when=(c.LEADS_TO_A_CONSTANT,),
        why=_FOLDED,
        source="torch/_inductor/fx_passes/joint_graph.py: constant_fold_uniform_value",
        case="constant_fold",
    ),
    Rule(
        name="noop-removed",
        fate="eliminated",
        scope="op",
        when=(c.REPLACED_BY_ITS_INPUT,),
        why="The op does not change its input, so its users read the input.",
        source="torch/_inductor/fx_passes/post_grad.py: remove_noop_ops; joint_graph.py: remove_no_ops",
        case="noop",
    ),
    Rule(
        name="allocation-planned",
        fate="eliminated",
        scope="op",
        ops=ALLOCATIONS,
        when=(c.TRACED, c.NO_WORK_LEFT),
        why="The allocation is part of the wrapper's memory plan.",
        source="torch/_inductor/codegen/wrapper.py",
        case="dropout",
    ),
    Rule(
        name="flex-attention",
        fate="rewritten",
        scope="op",
        ops=frozenset({"higher_order::flex_attention", "higher_order::flex_attention_backward"}),
        when=(c.GENERATED,),
        why="flex_attention became a Triton template with the score and mask functions written into it: the score matrix is "
        "never stored.",
        source="torch/_inductor/kernel/flex/flex_attention.py",
        case="flex_causal",
    ),
    Rule(
        name="rng-replaced",
        fate="rewritten",
        scope="op",
        passes=(r"replace_random|/fuse_seed_creation_pass",),
        ops=RANDOM,
        when=(c.GENERATED,),
        why="Inductor's own counter-based generator draws the numbers inside the kernel: other values than eager's "
        "for the same seed.",
        source="torch/_inductor/fx_passes/replace_random.py",
        case="dropout",
        arithmetic="Other numbers are drawn; with fallback_random=True they are those of eager mode.",
    ),
    Rule(
        name="gradient-copied",
        fate="rewritten",
        scope="op",
        when=(c.HANDS_OVER_BY_COPY,),
        why="The compiled backward gives the gradient in another layout than the parameter's, so autograd copies it "
        "instead of taking it as it is.",
        source="torch/csrc/autograd/functions/accumulate_grad.h",
        case="conv_training",
    ),
    Rule(
        name="gradient-taken",
        fate="rewritten",
        scope="op",
        when=(c.HANDS_OVER_OTHERWISE,),
        why="Eager mode's gradient has another layout than the parameter, so autograd copies it; the compiled backward "
        "gives it in that layout, and it is taken as it is.",
        source="torch/csrc/autograd/functions/accumulate_grad.h",
        case="sdpa_training_dropout",
    ),
    Rule(
        name="mutation-functionalized",
        fate="rewritten",
        scope="op",
        when=(c.WRITES_IN_PLACE, c.TRACED),
        why="The in-place op was traced as a pure one; the result is written back where it must be seen.",
        source="torch/_functorch/_aot_autograd: functionalization",
        case="inplace_update",
    ),
    Rule(
        name="embedding-lowered",
        fate="decomposed",
        scope="op",
        ops=_EMBEDDINGS,
        when=(c.GENERATED,),
        why="The look-up became an indexed load in a generated kernel, which checks the bounds itself.",
        source="torch/_inductor/lowering.py: embedding",
        case="embedding_bag",
    ),
    Rule(
        name="loss-fused",
        fate="fused",
        scope="kernel",
        ops=_LOSSES,
        why="The loss and the ops around it run in one kernel; log-probabilities and masks are never stored.",
        source="torch/_decomp/decompositions.py; torch/_inductor/scheduler.py",
        case="cross_entropy",
    ),
    Rule(
        name="reduction-fusion",
        fate="fused",
        scope="kernel",
        why="A reduction and the ops around it run in one kernel; what lies between is never stored.",
        source="torch/_inductor/scheduler.py: fusion",
        case="layernorm_residual",
        arithmetic=_IN_FLOAT32 + " Its elements may be added in another order.",
    ),
    Rule(
        name="pointwise-fusion",
        fate="fused",
        scope="kernel",
        why="Pointwise ops run in one kernel; the tensors between them are never stored.",
        source="torch/_inductor/scheduler.py: fusion",
        case="mlp_geglu",
        arithmetic=_IN_FLOAT32,
    ),
    Rule(
        name="compiler-pattern",
        fate="rewritten",
        scope="op",
        when=(c.CHANGED_BY_A_PATTERN,),
        why=_PATTERN,
        source="torch/_inductor/pattern_matcher.py",
        case="conv_frozen",
    ),
    Rule(
        name="decomposition",
        fate="decomposed",
        scope="op",
        when=(c.BECAME_SEVERAL,),
        why="The op was decomposed into simpler ones.",
        source="torch/_decomp/decompositions.py; torch/_inductor/decomposition.py",
        case="softmax",
    ),
    Rule(
        name="lowered-to-kernel",
        fate="rewritten",
        scope="op",
        when=(c.GENERATED,),
        why="The op runs in a generated kernel of its own instead of ATen's.",
        source="torch/_inductor/lowering.py",
        case="deep_mlp_training",
    ),
)

RULE_NAMES: frozenset[str] = frozenset(rule.name for rule in RULES)
