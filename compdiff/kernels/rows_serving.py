"""Rows for inference engines and libraries of fused kernels. In: nothing. Out: rows, tried in order."""

from compdiff.kernels.table import Row

_ANY = r"(?:\w+::)*"
SERVING = (
    Row(r"bmm_\w+|gemm_\w*(?:E4m3|E2m1|Bfloat16|Fp32)\w*|batchedGemm\w+", "TensorRT-LLM", "gemm", "batched GEMM",
        "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN_transOut_schedP2x1x2x3_sm100f",
        "trtllm"),
    Row(_ANY + r"(?:rms_?norm|fused_add_rms_norm|RMSNorm|layer_?norm|fused_?(?:add_)?rms_?norm|general_layer_norm|"
        r"qk_norm|_layer_norm|fusedQKNorm|_?rms_?norm_fwd)\w*", "serving kernels", "norm", "RMS or layer norm",
        "void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(int)", "types"),
    Row(_ANY + r"(?:rotary_embedding|batched_rotary|fused_rope|apply_rotary|_?rope|_?triton_rope|rotary)\w*",
        "serving kernels", "rope", "rotary embedding", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>"
        "(int)", "types"),
    Row(_ANY + r"(?:act_and_mul|silu_and_mul|gelu_and_mul|_?silu_mul|swiglu|gelu_tanh|_?act_mul|activation_kernel|"
        r"_?swiglu_fwd|_?swiglu_bwd|_?geglu)\w*", "serving kernels", "elementwise", "activation and product",
        "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i",
        "types"),
    Row(_ANY + r"(?:reshape_and_cache|store_kvcache|copy_blocks|concat_and_cache|gather_cache|_?set_kv|"
        r"swap_blocks|create_flashinfer_kv|_?copy_page_indices|_?write_req_to_token|concat_mla|_?kv_cache)\w*",
        "serving kernels", "cache", "key and value cache",
        "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, (vllm::Fp8KVCacheDataType)0>(int)",
        "types"),
    Row(_ANY + r"(?:\w*scaled_fp8_quant|static_scaled|dynamic_scaled|dynamic_per_token|\w*quantize_with_block|"
        r"per_token_(?:group_)?quant|_?per_token_group|scaled_int8|quantize_|\w*_quant_kernel|cvt_fp16_to_fp4|"
        r"_?act_quant|block_reduce_absmax|_?weight_dequant)\w*", "serving kernels", "quantize", "quantisation",
        "void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16, c10::Float8_e4m3fn>(int)", "types"),
    Row(_ANY + r"(?:[mM]arlin|gptq|awq|exllama|gemm_half_q|machete)\w*(?:::\w+)*", "serving kernels", "gemm",
        "GEMM with packed weights", "void marlin::Marlin<__nv_bfloat16, 256, 4, 16, 4, 4>(int)", "types"),
    Row(r"_matmul_ogs_\w+|_p_matmul_ogs\w*", "Triton kernels", "gemm", "GEMM of a mixture of experts",
        "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "ogs"),
    Row(r"_(?:combined_routing|topk_forward|topk_backward|sum_bitmatrix|finalize_matmul|routing|expt_data|"
        r"compute_indx|compute_writeback|reduce_grouped|bitmatrix|ragged)\w*", "Triton kernels", "moe",
        "routing of a mixture of experts", "_combined_routing_compute"),
    Row(r"(?:\w+::)*(?:fused_moe|_?moe_gemm|MoeFC|triton__?moe)\w*", "serving kernels", "gemm",
        "GEMM of a mixture of experts", "fused_moe_kernel", "words"),
    Row(r"moe::(?:\w+::)*\w+|" + _ANY + r"(?:moe_|topk_softmax|topk_gating|grouped_topk|topkGating|expert|"
        r"count_and_sort_expert|permute_tokens|_?(?:pre|post)_reorder|doActivation|computeExpert|finalizeMoe|"
        r"expandInput|deepgemm_compute|ep_scatter|ep_gather|_?fwd_kernel_ep|biased_grouped|shuffleInput|\w*moe\w*|"
        r"compute_problem_sizes|compute_expert)\w*", "serving kernels", "moe", "routing of a mixture of experts",
        "void moe::dev::routing::routingIndicesOffsetsKernel<int>(int)", "nested"),
    Row(r"mslk::gemm::\w+|deep_gemm::\w+(?:::\w+)*|" + _ANY +
        r"(?:fp8_gemm|sm\d+_fp8_gemm|sm\d+_bf16_gemm|_?w8a8_block|_?scaled_mm|fp8_block)\w*", "serving kernels",
        "gemm", "GEMM", "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 2112u>(int)", "types"),
    Row(r"cutlass(?:_mslk)?::(?:\w+::)*(?:\w*[Cc]onv\w*|Implicit\w*)", "CUTLASS", "conv", "convolution",
        "void cutlass::Kernel2<cutlass::conv::kernel::ImplicitGemmConvolution<int> >(int)", "cutlass_types"),
    Row(r"cutlass\w*::(?:\w+::)*\w*(?:Gemm|GEMM|gemm)\w*(?:::\w+)*", "CUTLASS", "gemm", "GEMM",
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int> > >(int)",
        "cutlass_types"),
    Row(r"cutlass\w*::reduction::\w+(?:::\w+)*", "CUTLASS", "reduction", "sum of the parts of a split-K GEMM",
        "void cutlass::Kernel<cutlass::reduction::kernel::ReduceSplitK<int> >(int)", "types"),
    Row(r"kernel_cutlass_\w*(?:flash|attn|fmha|mla)\w*", "CUTLASS", "attention", "attention (CuTe DSL)",
        "kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object_at_", "words"),
    Row(r"kernel_cutlass_\w*gemm\w*", "CUTLASS", "gemm", "GEMM (CuTe DSL)",
        "kernel_cutlass_kernel_dense_blockscaled_gemm_persistentSm100_object_at_", "words"),
    Row(r"cutlass\w*::\w+(?:::\w+)*|cute::\w+(?:::\w+)*|kernel_cutlass_\w+", "CUTLASS", "other", "kernel",
        "void cutlass::transform_kernel<int>(int)", "types"),
    Row(_ANY + r"(?:split_embedding\w*(?:forward|fwd)|dense_embedding\w*forward|int_nbit_split_embedding|"
        r"embedding_inplace)\w*", "FBGEMM", "embedding", "embedding tables",
        "void split_embedding_codegen_forward_unweighted_kernel<float, float, float, long, 2ul>(int)", "types"),
    Row(_ANY + r"(?:split_embedding|dense_embedding|bounds_check_indices|linearize_index|lxu_cache|lru_cache|"
        r"lfu_cache|delinearize)\w*", "FBGEMM", "embedding", "embedding tables backward or set-up", "void split_"
        "embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_warp_per_row_1<float, float, float, 2ul>"
        "(int)", "types"),
    Row(r"fbgemm_gpu::(?:\w+::)*\w*(?:jagged|dense|quant)\w*", "FBGEMM", "copy", "jagged tensor",
        "void fbgemm_gpu::jagged_dense_elementwise_dense_output_kernel_<2>(int)", "types"),
    Row(r"fbgemm_gpu::\w+(?:::\w+)*|" + _ANY +
        r"(?:permute_pooled|permute_2D|recat_|permute_\w*emb|block_bucketize)\w*", "FBGEMM", "index",
        "permutation of sparse features", "void fbgemm_gpu::permute_2D_lengths_kernel<int>(int)", "types"),
    Row(_ANY + r"(?:groupnorm|group_norm)\w*", "serving kernels", "norm", "group norm",
        "void (anonymous namespace)::groupnorm_kernel_dispatch_up<__hip_bfloat16, 1024u>(int)", "types"),
    Row(_ANY + r"(?:clamp_position|resolve_future_token|_?compute_slot|advance_step|get_last_loc|assign_req|"
        r"_?prepare_inputs|_?build_\w*metadata|align_evict|ms_rotary|compute_position|write_cache_indices|"
        r"_?topk_topp|apply_penal|_penalties|_gumbel|_prepare_\w*inputs|[Ss]ampling|_?rejection|eagle_prepare|"
        r"convert_vertical|convert_req|bgmv|sgmv|_?lora|apply_repetition|apply_token_bitmask|"
        r"temperature_softmax)\w*", "serving kernels", "set-up", "inputs of the next step, or sampling",
        "void (anonymous namespace)::clamp_position_kernel<long>(long*, long const*, unsigned long)", "types"),
    Row(_ANY + r"(?:causal_conv1d|selective_scan|chunk_(?:scan|state|fwd|bwd|cumsum|gated)|ssd_|_?chunk|"
        r"_?bmm_chunk|state_passing|fused_recurrent|_?selective_state|mamba|fused_gdn|wkv)\w*", "Mamba", "scan",
        "state space or convolution over time", "void causal_conv1d_fwd_kernel<int>(int)", "types"),
    Row(_ANY + r"(?:scaled_(?:upper_triang_)?masked_softmax\w*|cuApply(?:LayerNorm|RMSNorm)\w*|ln_(?:fwd|bwd)\w*|"
        r"rmsnorm_(?:fwd|bwd)\w*|transformer_engine::(?:\w+::)*\w+)", "Transformer Engine", "fused", "kernel",
        "void transformer_engine::normalization::ln_fwd_tuned_kernel<int>(int)", "types"),
    Row(r"(?:deepspeed|bitsandbytes|k[A-Z]\w*Quantize\w*|kDequantize\w*|kgemm_4bit\w*|kgemv_4bit\w*|"
        r"quantize_blockwise)\w*(?:::\w+)*", "bitsandbytes", "quantize", "quantisation",
        "void kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>(int)", "types"),
    Row(_ANY + r"(?:_?liger|element_mul_kernel|_?cross_entropy)\w*", "Triton", "fused", "training kernel",
        "liger_cross_entropy_kernel"),
    Row(r"(?:vllm|sgl_hip|sgl_kernel|tensorrt_llm|trtllm|fastertransformer|lightllm)::\w+(?:::\w+)*",
        "serving kernels", "other", "kernel", "void vllm::convert_fp8_kernel<float>(int)", "types"),
)  # fmt: skip
