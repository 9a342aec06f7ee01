"""Operations of TensorFlow 0.12 to 1.15.5 that are gone and that nothing makes up for: each with where it was.

Those of boosted trees are still defined in today's TensorFlow, and have no kernels.
"""

from __future__ import annotations

__all__ = ["LOST"]

_FROM = {
    "tf.contrib.cudnn_rnn": "CudnnRNNParamsFromCanonical",
    "tf.contrib.coder": "PmfToQuantizedCdf RangeDecode RangeEncode",
    "tf.contrib.data": """
        EnqueueInQueueDataset ExperimentalFunctionBufferingResource ExperimentalFunctionBufferingResourceGetNext
        ExperimentalFunctionBufferingResourceReset ExperimentalIdentityIndexedDataset ExperimentalIndexedDatasetGet
        ExperimentalIndexedDatasetMaterialize ExperimentalMaterializedIndexDatasetHandle FunctionBufferingResource
        FunctionBufferingResourceGetNext FunctionBufferingResourceReset IteratorSetStatsAggregator
        PrependFromQueueAndPaddedBatchDataset RestoreIterator SaveIterator SinkDataset SlideDataset
        SloppyInterleaveDataset
    """,
    "tf.contrib.nccl": "NcclBroadcastRecv NcclBroadcastSend NcclReduceRecv NcclReduceSend",
    "tf.contrib.bigtable": """
        BigtableClient BigtableLookupDataset BigtablePrefixKeyDataset BigtableRangeKeyDataset
        BigtableSampleKeyPairsDataset BigtableSampleKeysDataset BigtableScanDataset BigtableTable DatasetToBigtable
    """,
    "tf.contrib.boosted_trees": """
        BuildCategoricalEqualitySplits BuildDenseInequalitySplits BuildSparseInequalitySplits CenterTreeEnsembleBias
        CreateQuantileAccumulator CreateStatsAccumulatorScalar CreateStatsAccumulatorTensor
        CreateTreeEnsembleVariable DecisionTreeEnsembleResourceHandleOp GradientTreesPartitionExamples
        GradientTreesPrediction GradientTreesPredictionVerbose GrowTreeEnsemble MakeQuantileSummaries
        QuantileAccumulatorAddSummaries QuantileAccumulatorDeserialize QuantileAccumulatorFlush
        QuantileAccumulatorFlushSummary QuantileAccumulatorGetBuckets QuantileAccumulatorIsInitialized
        QuantileAccumulatorSerialize QuantileBuckets QuantileStreamResourceHandleOp Quantiles
        StatsAccumulatorScalarAdd StatsAccumulatorScalarDeserialize StatsAccumulatorScalarFlush
        StatsAccumulatorScalarIsInitialized StatsAccumulatorScalarMakeSummary StatsAccumulatorScalarResourceHandleOp
        StatsAccumulatorScalarSerialize StatsAccumulatorTensorAdd StatsAccumulatorTensorDeserialize
        StatsAccumulatorTensorFlush StatsAccumulatorTensorIsInitialized StatsAccumulatorTensorMakeSummary
        StatsAccumulatorTensorResourceHandleOp StatsAccumulatorTensorSerialize TreeEnsembleDeserialize
        TreeEnsembleIsInitializedOp TreeEnsembleSerialize TreeEnsembleStampToken TreeEnsembleStats
        TreeEnsembleUsedHandlers
    """,
    "tf.contrib.factorization": "MaskedMatmul WALSComputePartialLhsAndRhs",
    "tf.contrib.ffmpeg": "DecodeAudio DecodeAudioV2 DecodeVideo EncodeAudio EncodeAudioV2",
    "tf.contrib.framework": "ZeroInitializer ZeroVarInitializer",
    "tf.contrib.fused_conv": "FusedConv2DBiasActivation",
    "tf.contrib.hadoop": "SequenceFileDataset",
    "tf.contrib.ignite": "IgniteDataset",
    "tf.contrib.image": """
        AdjustHsvInYiq BipartiteMatch ImageConnectedComponents SingleImageRandomDotStereograms
    """,
    "tf.contrib.input_pipeline": "ObtainNext",
    "tf.contrib.kafka": "KafkaDataset",
    "tf.contrib.kinesis": "KinesisDataset",
    "tf.contrib.layers": "SparseFeatureCross",
    "tf.contrib.libsvm": "DecodeLibsvm",
    "tf.contrib.memory_stats": "BytesInUse BytesLimit MaxBytesInUse",
    "tf.contrib.nearest_neighbor": "HyperplaneLSHProbes",
    "tf.contrib.periodic_resample": "PeriodicResample PeriodicResampleOpGrad",
    "tf.contrib.reduce_slice_ops": "ReduceSliceMax ReduceSliceMin ReduceSliceProd ReduceSliceSum",
    "tf.contrib.resampler": "ResamplerGrad",
    "tf.contrib.tpu": """
        TPUEmbeddingEnqueueSparseBatch TPUEmbeddingLoadAdagradParameters TPUEmbeddingLoadGradientDescentParameters
        TPUEmbeddingReceiveActivations TPUEmbeddingRetrieveAdagradParameters
        TPUEmbeddingRetrieveGradientDescentParameters TPUEmbeddingSendGradients
    """,
    "tf.contrib.tensor_forest": """
        BestSplits CountExtremelyRandomStats FinishedNodes GrowTree HardRoutingFunction KFeatureGradient
        KFeatureRoutingFunction RoutingFunction RoutingGradient SampleInputs StochasticHardRoutingFunction
        StochasticHardRoutingGradient StringToFloat TopNInsert TopNRemove TreePredictions UnpackPath
        UpdateFertileSlots
        CreateFertileStatsVariable CreateTreeVariable DecisionTreeResourceHandleOp FeatureUsageCounts
        FertileStatsDeserialize FertileStatsIsInitializedOp FertileStatsResourceHandleOp FertileStatsSerialize
        FinalizeTree GrowTreeV4 ProcessInputV4 ReinterpretStringToFloat ScatterAddNdim TraverseTreeV4
        TreeDeserialize TreeIsInitializedOp TreePredictionsV4 TreeSerialize TreeSize UpdateModelV4
    """,
    "tf.contrib.text": "SkipGramGenerateCandidates",
    "tf.estimator.BoostedTrees": """
        BoostedTreesAggregateStats BoostedTreesBucketize BoostedTreesCalculateBestFeatureSplit
        BoostedTreesCalculateBestGainsPerFeature BoostedTreesCenterBias BoostedTreesCreateEnsemble
        BoostedTreesCreateQuantileStreamResource BoostedTreesDeserializeEnsemble
        BoostedTreesEnsembleResourceHandleOp BoostedTreesExampleDebugOutputs BoostedTreesFlushQuantileSummaries
        BoostedTreesGetEnsembleStates BoostedTreesMakeQuantileSummaries BoostedTreesMakeStatsSummary
        BoostedTreesPredict BoostedTreesQuantileStreamResourceAddSummaries
        BoostedTreesQuantileStreamResourceDeserialize BoostedTreesQuantileStreamResourceFlush
        BoostedTreesQuantileStreamResourceGetBucketBoundaries BoostedTreesQuantileStreamResourceHandleOp
        BoostedTreesSerializeEnsemble BoostedTreesSparseAggregateStats BoostedTreesSparseCalculateBestFeatureSplit
        BoostedTreesTrainingPredict BoostedTreesUpdateEnsemble BoostedTreesUpdateEnsembleV2
        IsBoostedTreesEnsembleInitialized IsBoostedTreesQuantileStreamResourceInitialized
    """,
    "the core": """
        BigQueryReader GcsConfigureBlockCache GcsConfigureCredentials GenerateBigQueryReaderPartitions
        LoadTPUEmbeddingADAMParametersGradAccumDebug LoadTPUEmbeddingAdadeltaParametersGradAccumDebug
        LoadTPUEmbeddingAdagradParametersGradAccumDebug LoadTPUEmbeddingFTRLParametersGradAccumDebug
        LoadTPUEmbeddingMomentumParametersGradAccumDebug LoadTPUEmbeddingProximalAdagradParametersGradAccumDebug
        LoadTPUEmbeddingRMSPropParametersGradAccumDebug RemoteFusedGraphExecute
        RetrieveTPUEmbeddingADAMParametersGradAccumDebug RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug
        RetrieveTPUEmbeddingAdagradParametersGradAccumDebug RetrieveTPUEmbeddingFTRLParametersGradAccumDebug
        RetrieveTPUEmbeddingMomentumParametersGradAccumDebug
        RetrieveTPUEmbeddingProximalAdagradParametersGradAccumDebug
        RetrieveTPUEmbeddingRMSPropParametersGradAccumDebug Rpc TensorForestCreateTreeVariable
        TensorForestTreeDeserialize TensorForestTreeIsInitializedOp TensorForestTreePredict
        TensorForestTreeResourceHandleOp TensorForestTreeSerialize TensorForestTreeSize TryRpc
    """,
}

#: Operation -> the module it was in, or ``"the core"``.
LOST = {op: home for home, operations in _FROM.items() for op in operations.split()}
