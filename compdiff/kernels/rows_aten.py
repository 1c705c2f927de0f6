"""Rows for PyTorch's own kernels. In: nothing. Out: rows, tried in order."""

from compdiff.kernels.table import Row

# Some of ATen's kernels stand in no namespace but an anonymous one.
_BARE = r"(?:\w+::)*"
_AT = r"at::(?:\w+::)*"
ATEN = (
    Row(_BARE + r"(?:vectorized_|unrolled_|vectorized_templated_|templated_|"
        r"legacy_)*elementwise_kernel(?:_manual_unroll|_for_multi_outputs|_helper)*", "ATen", "elementwise",
        "pointwise", "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::"
        "array<char*, 1ul> >(int)", "elementwise"),
    Row(_BARE + r"elementwise_kernel_with_index", "ATen", "fill", "fill by index", "void (anonymous namespace)::"
        "elementwise_kernel_with_index<int, at::native::arange_cuda_out(c10::Scalar const&)::{lambda(long)#1}>"
        "(int)", "elementwise"),
    Row(_BARE + r"index_elementwise_kernel", "ATen", "index", "index", "void at::native::index_elementwise_"
        "kernel<128, 4, at::native::index_copy_kernel_impl<at::native::OpaqueType<4> >(int)::{lambda(int)#1}>(int)",
        "elementwise"),
    Row(_AT + r"_scatter_gather_elementwise_kernel", "ATen", "index", "scatter or gather", "void at::native::_"
        "scatter_gather_elementwise_kernel<128, 4, at::native::_cuda_scatter_gather_internal_kernel<true, float>:"
        ":operator()<at::native::ReduceAdd>(int)>(int)", "types"),
    Row(_AT + r"distribution_elementwise_grid_stride_kernel|" + _AT + r"distribution_binary_elementwise_kernel",
        "ATen", "random", "random numbers",
        "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4, int>(long)",
        "elementwise"),
    Row(_AT + r"reduce_kernel", "ATen", "reduction", "reduction", "void at::native::reduce_kernel<512, 1, at::"
        "native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4> >"
        "(int)", "reduce"),
    Row(_AT + r"multi_tensor_apply_kernel(?:_\w+)?", "ATen", "elementwise", "pointwise over many tensors",
        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<int>(int)", "multi_tensor"),
    Row(r"multi_tensor_apply_kernel(?:_\w+)?", "Apex", "elementwise", "pointwise over many tensors",
        "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float, float>(int)", "multi_tensor"),
    Row(_BARE + r"lp(?:norm|max)_cleanup|(?:\w+::)*cleanup(?:_v\d)?", "ATen", "reduction", "norm over many tensors",
        "void at::native::lpnorm_cleanup<float, (at::native::NormType)1, float>(int)", "types"),
    Row(_BARE + r"(?:cunn_(?:Spatial)?SoftMax|softmax_warp_|host_softmax|cuda_sparse_coo_softmax|"
        r"masked_softmax)\w*[Bb]ackward\w*", "ATen", "softmax", "softmax backward",
        "void (anonymous namespace)::softmax_warp_backward<float, float, float, 10, true, false>(float*)", "types"),
    Row(_BARE + r"(?:cunn_(?:Spatial)?SoftMax|softmax_warp_|host_softmax|cuda_sparse_coo_softmax|masked_softmax|"
        r"persistent_softmax)\w*", "ATen", "softmax", "softmax",
        "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(float*)", "types"),
    Row(_BARE + r"(?:GammaBeta\w*Backward\w*|cuCompute(?:Part)?GradGammaBeta|layer_norm_grad\w*|"
        r"cuComputeGradInput|vectorized_layer_norm_grad\w*)", "ATen", "norm", "layer norm backward",
        "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<float, float, false>(float*)", "types"),
    Row(_BARE + r"(?:vectorized_layer_norm\w*|LayerNorm\w*|RowwiseMoments\w*|cuApplyLayerNorm|cuApplyRMSNorm)",
        "ATen", "norm", "layer or group norm",
        "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int)",
        "types"),
    Row(_AT + r"(?:Compute(?:1d)?(?:Backward)?FusedParams|ComputeInternalGradients|group_?norm|GroupNorm)\w*", "ATen",
        "norm", "group norm",
        "void at::native::(anonymous namespace)::ComputeInternalGradientsCUDAKernel<float>(long)", "types"),
    Row(_AT + r"batch_norm_backward\w*", "ATen", "norm", "batch norm backward",
        "void at::native::batch_norm_backward_kernel<float, float, float, int>(int)", "types"),
    Row(_AT + r"batch_norm_(?:collect|reduce)\w*", "ATen", "norm", "batch norm statistics",
        "void at::native::batch_norm_collect_statistics_kernel<at::native::Var, float, float, float, int>(int)",
        "types"),
    Row(_AT + r"batch_norm\w*|" + _AT + r"batchnorm\w*|" + _AT + r"weight_norm\w*|" + _AT + r"renorm\w*", "ATen",
        "norm", "batch or weight norm",
        "void at::native::batch_norm_transform_input_kernel<float, float, float, true, int>(int)", "types"),
    Row(_AT + r"(?:CatArrayBatchedCopy|chunk_cat|split_with_sizes)\w*", "ATen", "copy", "concatenation or split",
        "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 128, 1>(float*)",
        "types"),
    Row(_AT + r"(?:embedding_backward|compute_grad_weight|sum_and_scatter|krn_partial|compute_num_of_partial|"
        r"EmbeddingBag_accGrad|embedding_dense_backward|_embedding_bag_\w*backward)\w*", "ATen", "embedding",
        "embedding backward", "void at::native::(anonymous namespace)::compute_grad_weight<float, long>(long*)",
        "types"),
    Row(_AT + r"(?:EmbeddingBag|embedding|renorm_kernel)\w*", "ATen", "embedding", "embedding",
        "void at::native::(anonymous namespace)::EmbeddingBag_updateOutputKernel_sum_mean<float, long>(long*)",
        "types"),
    Row(_AT + r"(?:index(?:Select|Func|Copy|Add|Put|Fill|ing_backward)|index_|vectorized_gather|gather(?!TopK|"
        r"KthValue|Median)|scatter|searchsorted|take_put|masked_(?:scatter|select))\w*|" + _BARE +
        r"(?:indexing_backward|tma_scatter|vectorized_scatter|linearize_index|flag_kernel|write_indices)\w*", "ATen",
        "index", "gather or scatter by index", "void at::native::(anonymous namespace)::"
        "indexSelectLargeIndex<float, int, unsigned int, 1, 1, -2, true>(int)", "types"),
    Row(_AT + r"(?:radixSort|bitonicSort|warpMergeSort|sort_postprocess|fill_reverse_indices|"
        r"fill_index_and_segment|sort)\w*", "ATen", "sort", "sort",
        "void at::native::bitonicSortKVInPlace<-2, -1, 16, 16, float, long>(int)", "types"),
    Row(_AT + r"(?:gatherTopK|gatherKthValue|gatherMedian|computeBlock\w*Counts|compute_mode|topk)\w*|" + _AT +
        r"mbtopk::\w+", "ATen", "sort", "top k, median or mode",
        "void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(int)", "types"),
    Row(_AT + r"(?:tensor_kernel_scan|scan|cumsum|cumprod|final_scan|compute_agg)\w*", "ATen", "scan", "scan",
        "void at::native::tensor_kernel_scan_innermost_dim<float, std::plus<float> >(int)", "types"),
    Row(_BARE + r"(?:fused_dropout|dropout_|masked_scale|rand_uniform|sampleMultinomial|randperm|multinomial|"
        r"poisson|philox|bernoulli|dirichlet)\w*", "ATen", "random", "dropout or random numbers",
        "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned int, 1, 4, bool>(int)",
        "types"),
    Row(_BARE + r"(?:nll_loss\w*|cunn_ClassNLL\w*|\w*MarginLoss\w*|\w*margin_loss\w*|ctc_loss\w*|bce\w*|"
        r"cross_entropy\w*|mse_loss\w*)", "ATen", "loss", "loss or its gradient",
        "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(float*)",
        "types"),
    Row(_AT + r"(?:max_pool|avg_pool|adaptive|atomic_?adaptive|max_unpool|MaxPool|AvgPool|fractional_max_pool|"
        r"lp_pool|MaxUnpooling|pool)\w*", "ATen", "pooling", "pooling",
        "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int)", "types"),
    Row(_AT + r"(?:upsample|grid_sampler|affine_grid|interpolate)\w*", "ATen", "resize", "resampling",
        "void at::native::(anonymous namespace)::upsample_nearest2d_out_frame<c10::BFloat16>(int)", "types"),
    Row(_AT + r"(?:conv_depthwise|depthwise|spatialDepthwise|slow_conv)\w*", "ATen", "conv", "depthwise convolution",
        "void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>(int)", "types"),
    Row(_AT + r"(?:im2col|col2im|vol2col|vol2im)\w*", "ATen", "layout", "image to columns or back",
        "void at::native::im2col_kernel<float>(long)", "types"),
    Row(_AT + r"(?:reflection_pad|replication_pad|constant_pad|add_padding|remove_padding)\w*", "ATen", "copy",
        "padding", "void at::native::(anonymous namespace)::reflection_pad2d_out_kernel<float>(int)", "types"),
    Row(_AT + r"(?:triu|tril|roll|flip|cross|diag|kernel_pointwise_flip|unfold|_fft_conjugate|matrix_to_m16n8k16|"
        r"krn_copy|copy|transpose|fill)\w*", "ATen", "copy", "copy of a part or in another order",
        "void at::native::roll_cuda_kernel<float>(float*)", "types"),
    Row(_AT + r"kernel::(?:lstm|gru)_cell\w*", "ATen", "rnn", "recurrent cell",
        "void at::native::(anonymous namespace)::kernel::lstm_cell_forward<float, float, int, 1>(int)", "types"),
    Row(_AT + r"(?:cdist|pdist|glu|kernelPointwiseApply|jagged_\w*elementwise|apply_kernel|op_dense|"
        r"\w*_?elem(?:ent)?wise|adjacent_difference|prelu|softplus|threshold|_assert_async|nonzero|bincount|"
        r"histogram\w*|kernelHistogram|segment_reduce|_sparse_sum|post_sum_div)\w*", "ATen", "elementwise",
        "pointwise or small reduction",
        "void at::native::(anonymous namespace)::cdist_kernel_cuda_impl<float>(float*)", "types"),
    Row(_AT + r"(?:tinygemm|sparse_semi_structured|\w*grouped_gemm|set_\w*gemm|grouped_mm)\w*", "ATen", "gemm",
        "GEMM or its set-up", "void at::native::tinygemm_m16n8k16_chunk_kernel<int>(int)", "types"),
    Row(_AT + r"(?:(?:Choose|Calculate)QuantizationParams|MovingAverage|fake_quant|_?quantize|dequantize|"
        r"choose_qparams)\w*", "ATen", "quantize", "quantisation",
        "void at::native::(anonymous namespace)::MovingAverageMinMax<float>(int)", "types"),
    Row(_AT + r"(?:convert_indices|reduce_sparse_csr|coalesce|sparse|reduce_crow|csr|to_dense_representation)\w*|"
        r"at::native::apply::\w+", "ATen", "index", "sparse tensor",
        "void at::native::apply::coalesceValuesKernel<float, float>(long*)", "types"),
    Row(r"at::native::\w+(?:::\w+)*|at::\w+(?:::\w+)*|c10::\w+(?:::\w+)*", "ATen", "other", "kernel",
        "void at::native::something_new_kernel<float>(int)", "types"),
)  # fmt: skip
