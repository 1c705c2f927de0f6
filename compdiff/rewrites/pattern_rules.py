"""The rows for what single patterns of Inductor do. In: nothing. Out: PATTERN_RULES, a part of the table in `rules.py`."""

from compdiff.rewrites.rule import Rule

PATTERN_RULES: tuple[Rule, ...] = (
    Rule(
        name="bmm-to-mm",
        fate="rewritten",
        scope="pass",
        passes=(r"/bmm_to_mm ",),
        why="A batched product with a batch of one became a plain matrix product on views.",
        source="torch/_inductor/fx_passes/joint_graph.py: bmm_to_mm",
        case="bmm_to_mm",
    ),
    Rule(
        name="mm-plus-mm",
        fate="rewritten",
        scope="pass",
        passes=(r"/mm_plus_mm ",),
        why="Two matrix products and their sum became one op, mm_plus_mm: where autotuning takes its Triton kernel, "
        "neither product is stored.",
        source="torch/_inductor/fx_passes/post_grad.py: mm_plus_mm",
        case="mm_plus_mm",
    ),
    Rule(
        name="back-to-back-gemm",
        fate="fused",
        scope="pass",
        passes=(r" torch/_inductor/fx_passes/b2b_gemm\.py",),
        why="Two matrix products, and the pointwise ops between them, run in one Triton kernel: the first product is never "
        "stored.",
        source="torch/_inductor/fx_passes/b2b_gemm.py",
        case="b2b_gemm",
    ),
    Rule(
        name="narrow-product",
        fate="decomposed",
        scope="pass",
        passes=(r" torch/_inductor/fx_passes/decompose_mem_bound_mm\.py",),
        why="A long, narrow matrix product is bound by memory: it became a multiplication and a sum in a generated kernel.",
        source="torch/_inductor/fx_passes/decompose_mem_bound_mm.py",
        case="narrow_product",
    ),
    Rule(
        name="batched-ops",
        fate="fused",
        scope="pass",
        passes=(r"/group_batch_fusion_\d+/",),
        why="Ops of one kind on several tensors became one op on these tensors put together, whose result holds theirs.",
        source="torch/_inductor/fx_passes/group_batch_fusion.py",
        case="batch_linear",
    ),
    Rule(
        name="parts-rejoined",
        fate="rewritten",
        scope="pass",
        passes=(r"/(?!normalize)\w+ torch/_inductor/fx_passes/split_cat\.py",),
        why="A tensor was taken apart and put together again (split and cat, unbind and stack): the pair of ops became "
        "fewer ones, a view, or nothing.",
        source="torch/_inductor/fx_passes/split_cat.py",
        case="unbind_stack",
    ),
    Rule(
        name="scaled-softmax",
        fate="fused",
        scope="pass",
        passes=(r"/(mul|div)_softmax_pattern ",),
        why="Softmax of a scaled input: the scale is applied after the maximum is subtracted, so the product is never "
        "rounded or stored before.",
        source="torch/_inductor/fx_passes/joint_graph.py: mul_softmax_pattern, div_softmax_pattern",
        case="scaled_softmax",
    ),
    Rule(
        name="scatter-to-comparison",
        fate="rewritten",
        scope="pass",
        passes=(r"/scatter_upon_const_tensor ",),
        ops=frozenset({"aten::scatter", "aten::scatter_"}),
        why="Scattering one value into a constant tensor became a comparison of the index with the position: nothing is "
        "scattered, and the code joins the kernel that reads it.",
        source="torch/_inductor/fx_passes/joint_graph.py: scatter_upon_const_tensor",
        case="one_hot",
    ),
)
