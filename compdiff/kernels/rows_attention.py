"""Rows for attention kernels of PyTorch and others. In: nothing. Out: rows, tried in order."""

from compdiff.kernels.table import Row

_FLASH = r"(?:\w+::)*(?:pytorch_flash|flash)::(?:\w+::)*"

ATTENTION = (
    Row(r"(?:\w+::)*flash_bwd_(?:dot_do_o|convert_dq|convert_dkv|clear_dkvaccum)\w*", "FlashAttention 2", "attention",
        "attention backward, set-up or conversion", "void pytorch_flash::flash_bwd_dot_do_o_kernel<true, pytorch_"
        "flash::Flash_bwd_kernel_traits<64, 128, 128, 8> >(int)", "flash"),
    Row(r"(?:\w+::)*flash_bwd_\w+", "FlashAttention 2", "attention", "attention backward", "void pytorch_flash::"
        "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8> >"
        "(int)", "flash"),
    Row(r"(?:\w+::)*flash_fwd_splitkv_combine\w*", "FlashAttention 2", "attention",
        "sum of the parts of split attention", "void pytorch_flash::flash_fwd_splitkv_combine_kernel<pytorch_"
        "flash::Flash_fwd_kernel_traits<64, 64, 256, 4>, 4, 1, true>(int)", "flash"),
    Row(r"(?:\w+::)*flash_fwd_splitkv\w*", "FlashAttention 2", "attention", "attention, keys split",
        "void pytorch_flash::flash_fwd_splitkv_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 64, 256, 4> >(int)",
        "flash"),
    Row(r"(?:\w+::)*flash_fwd\w*", "FlashAttention 2", "attention", "attention", "void flash::flash_fwd_"
        "kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t> >(flash::Flash_fwd_"
        "params)", "flash"),
    Row(_FLASH + r"FlashAttnFwdCombine\w*", "FlashAttention 3", "attention", "sum of the parts of split attention",
        "void cutlass::device_kernel<flash::enable_sm80_to_sm89<flash::FlashAttnFwdCombine<cute::tuple<int>, 128> > >(int)",
        "types"),
    Row(_FLASH + r"FlashAttnBwd\w*", "FlashAttention 3", "attention", "attention backward",
        "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnBwdSm90<int> > >(int)", "hopper"),
    Row(_FLASH + r"FlashAttnFwd\w*", "FlashAttention 3", "attention", "attention",
        "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<int> > >(int)", "hopper"),
    Row(_FLASH + r"\w+", "FlashAttention", "attention", "attention, set-up",
        "void flash::prepare_varlen_num_blocks_kernel<1>(int)"),
    Row(r"fmha_cutlassB\w*", "memory-efficient", "attention", "attention backward",
        "fmha_cutlassB_bf16_aligned_64x64_k64_sm80(int)", "fmha"),
    Row(r"fmha_cutlassF\w*", "memory-efficient", "attention", "attention",
        "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(int)", "fmha"),
    Row(r"(?:\w+::)*attention_kernel_(?:backward_)?batched\w*", "memory-efficient", "attention", "attention",
        "void attention_kernel_batched_impl<int>(int)"),
    Row(r"fmhaSm\d+[af]?Kernel_\w+", "TensorRT-LLM", "attention", "attention",
        "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext", "trtllm_fmha"),
    Row(r"fmha_v2_\w+|fmhaSm\w+", "TensorRT-LLM", "attention", "attention",
        "fmha_v2_flash_attention_bf16_64_128_S_qkv_128_causal_tma_ws_sm90_kernel", "words"),
    Row(r"(?:\w+::)*(?:masked_multihead_attention|mmha|kernel_mha|applyBiasRopeUpdateKVCache|xqa)\w*(?:::\w+)*",
        "TensorRT-LLM", "attention", "attention for decoding",
        "void mmha::masked_multihead_attention_kernel<float>(int)", "types"),
    Row(r"(?:vllm::)?paged_attention\w*reduce\w*", "vLLM", "attention", "sum of the parts of paged attention",
        "void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, __hip_bfloat16, 128, 128, 256, 3, false>(int)",
        "types"),
    Row(r"(?:vllm::)?(?:paged_attention\w*|single_query_cached\w*)", "vLLM", "attention", "paged attention",
        "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16, 1>(int)", "types"),
    Row(r"(?:kernel_)?unified_attention\w*|kernel_unified_attention\w*", "Triton (vLLM)", "attention",
        "paged attention", "kernel_unified_attention_2d"),
    Row(r"reduce_segments", "Triton (vLLM)", "attention", "sum of the parts of paged attention", "reduce_segments"),
    Row(r"_?(?:attn_fwd|attn_bwd\w*|bwd_preprocess|flash_attn\w*|attention_fwd|attention_bwd|fwd_attn)\w*", "Triton",
        "attention", "attention", "attn_fwd"),
    Row(r"sage_(?:fwd|bwd|attn)\w*|(?:\w+::)*qk_int(?:8|4)_sv\w*", "SageAttention", "attention",
        "quantised attention", "sage_fwd"),
    Row(r"sage_quant\w*|(?:\w+::)*(?:QuantInt8Kernel|MeanScaleKernel|TransposePadPermuteKernel)", "SageAttention",
        "quantize", "quantisation of Q, K and V", "sage_quant_kernel"),
    Row(r"_?fwd_(?:grouped_)?kernel(?:_stage\d)?\w*|_fwd_kernel\w*|_(?:decode|extend|prefill)_att\w*|_att_fwd\w*|"
        r"_?decode_(?:att|grouped)\w*", "Triton", "attention", "attention", "_fwd_grouped_kernel_stage1"),
    Row(r"flashinfer::(?:\w+::)*\w*(?:Attention|Prefill|Decode|PrefillWithKV\w*|BatchMLA|Cascade|Merge\w*State|"
        r"VariableLengthMerge|mla)\w*", "FlashInfer", "attention", "attention",
        "void flashinfer::BatchPrefillWithPagedKVCacheKernel<int>(int)", "nested"),
    Row(r"flashinfer::(?:\w+::)*\w*(?:[Rr]ms_?[Nn]orm|RMSNorm)\w*", "FlashInfer", "norm", "RMS norm",
        "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(int)", "types"),
    Row(r"flashinfer::(?:\w+::)*\w*(?:Sampling|TopK|TopP|MinP|Renorm)\w*", "FlashInfer", "sampling", "sampling",
        "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<int>(int)", "types"),
    Row(r"flashinfer::(?:\w+::)*\w*(?:Rotary|RoPE)\w*", "FlashInfer", "rope", "rotary embedding",
        "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<int>(int)", "types"),
    Row(r"flashinfer::(?:\w+::)*\w*(?:act_and_mul|activation)\w*", "FlashInfer", "elementwise",
        "activation and product", "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16>(int)", "types"),
    Row(r"flashinfer::\w+(?:::\w+)*", "FlashInfer", "other", "kernel",
        "void flashinfer::AppendPagedKVCacheKernel<128u>(int)", "types"),
    Row(r"(?:cutlass::fmha|fmha)::(?:\w+::)*\w+|cutlass::(?:\w+::)*\w*(?:[Ff]mha|MLA|Mla)\w*", "CUTLASS", "attention",
        "attention",
        "void cutlass::device_kernel<cutlass::fmha::kernel::Sm100FmhaFwdKernelTmaWarpspecialized<int> >(int)",
        "types"),
    Row(r"\w*(?:flash_?mla|FlashMLA)\w*|sm\d+::(?:\w+::)*\w*(?:mla|flash)\w*", "FlashMLA", "attention",
        "multi-head latent attention", "void flash_mla_splitkv_kernel<int>(int)", "types"),
    Row(r"(?:\w+::)*(?:transform_bias_rescale_qkv\w*)", "ATen", "attention", "bias, scale and split of Q, K and V",
        "void at::native::(anonymous namespace)::transform_bias_rescale_qkv_kernel<float, float, true>(int)",
        "types"),
)  # fmt: skip
