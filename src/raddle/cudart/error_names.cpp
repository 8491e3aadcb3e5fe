#include "raddle/cudart/errors.h"

#include <algorithm>
#include <iterator>

namespace raddle::cudart {

namespace {

struct Row {
  int code;
  const char *name, *text;
};

// In order of code.
constexpr Row kRows[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {4, "cudaErrorCudartUnloading", "driver shutting down"},
    {5, "cudaErrorProfilerDisabled", "profiler disabled while using external profiling tool"},
    {6, "cudaErrorProfilerNotInitialized", "profiler not initialized"},
    {7, "cudaErrorProfilerAlreadyStarted", "profiler already started"},
    {8, "cudaErrorProfilerAlreadyStopped", "profiler already stopped"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {16, "cudaErrorInvalidHostPointer", "invalid host pointer"},
    {17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {18, "cudaErrorInvalidTexture", "invalid texture reference"},
    {19, "cudaErrorInvalidTextureBinding", "texture is not bound to a pointer"},
    {20, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {22, "cudaErrorAddressOfConstant", "address of constant"},
    {23, "cudaErrorTextureFetchFailed", "texture fetch failed"},
    {24, "cudaErrorTextureNotBound", "texture not bound"},
    {25, "cudaErrorSynchronizationError", "synchronization error"},
    {26, "cudaErrorInvalidFilterSetting", "invalid filter setting"},
    {27, "cudaErrorInvalidNormSetting", "invalid norm setting"},
    {28, "cudaErrorMixedDeviceExecution", "mixed device execution"},
    {31, "cudaErrorNotYetImplemented", "not yet implemented"},
    {32, "cudaErrorMemoryValueTooLarge", "memory value too large"},
    {34, "cudaErrorStubLibrary", "stub library"},
    {35, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {36, "cudaErrorCallRequiresNewerDriver", "call requires newer driver"},
    {37, "cudaErrorInvalidSurface", "invalid surface reference"},
    {43, "cudaErrorDuplicateVariableName", "duplicate variable name"},
    {44, "cudaErrorDuplicateTextureName", "duplicate texture name"},
    {45, "cudaErrorDuplicateSurfaceName", "duplicate surface name"},
    {46, "cudaErrorDevicesUnavailable", "all CUDA-capable devices are busy or unavailable"},
    {49, "cudaErrorIncompatibleDriverContext", "incompatible driver context"},
    {52, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
    {53, "cudaErrorPriorLaunchFailure", "unspecified launch failure in prior launch"},
    {65, "cudaErrorLaunchMaxDepthExceeded", "launch would exceed maximum depth of nested launches"},
    {66, "cudaErrorLaunchFileScopedTex", "launch file scoped tex"},
    {67, "cudaErrorLaunchFileScopedSurf", "launch file scoped surf"},
    {68, "cudaErrorSyncDepthExceeded", "sync depth exceeded"},
    {69, "cudaErrorLaunchPendingCountExceeded", "launch pending count exceeded"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {102, "cudaErrorDeviceNotLicensed", "device not licensed"},
    {103, "cudaErrorSoftwareValidityNotEstablished", "software validity not established"},
    {127, "cudaErrorStartupFailure", "startup failure"},
    {200, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {201, "cudaErrorDeviceUninitialized", "invalid device context"},
    {205, "cudaErrorMapBufferObjectFailed", "map buffer object failed"},
    {206, "cudaErrorUnmapBufferObjectFailed", "unmap buffer object failed"},
    {207, "cudaErrorArrayIsMapped", "array is mapped"},
    {208, "cudaErrorAlreadyMapped", "already mapped"},
    {209, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {210, "cudaErrorAlreadyAcquired", "already acquired"},
    {211, "cudaErrorNotMapped", "not mapped"},
    {212, "cudaErrorNotMappedAsArray", "not mapped as array"},
    {213, "cudaErrorNotMappedAsPointer", "not mapped as pointer"},
    {214, "cudaErrorECCUncorrectable", "e c c uncorrectable"},
    {215, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture"},
    {216, "cudaErrorDeviceAlreadyInUse", "device already in use"},
    {217, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {219, "cudaErrorInvalidGraphicsContext", "invalid graphics context"},
    {220, "cudaErrorNvlinkUncorrectable", "nvlink uncorrectable"},
    {221, "cudaErrorJitCompilerNotFound", "jit compiler not found"},
    {222, "cudaErrorUnsupportedPtxVersion",
     "the provided PTX was compiled with an unsupported toolchain."},
    {223, "cudaErrorJitCompilationDisabled", "jit compilation disabled"},
    {224, "cudaErrorUnsupportedExecAffinity", "unsupported exec affinity"},
    {225, "cudaErrorUnsupportedDevSideSync", "unsupported dev side sync"},
    {226, "cudaErrorContained", "contained"},
    {300, "cudaErrorInvalidSource", "device kernel image is invalid"},
    {301, "cudaErrorFileNotFound", "file not found"},
    {302, "cudaErrorSharedObjectSymbolNotFound", "shared object symbol not found"},
    {303, "cudaErrorSharedObjectInitFailed", "shared object init failed"},
    {304, "cudaErrorOperatingSystem", "OS call failed or operation not supported on this OS"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {401, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {402, "cudaErrorLossyQuery", "lossy query"},
    {500, "cudaErrorSymbolNotFound", "named symbol not found"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {703, "cudaErrorLaunchIncompatibleTexturing", "launch incompatible texturing"},
    {704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {708, "cudaErrorSetOnActiveProcess", "cannot set while device is active in this process"},
    {709, "cudaErrorContextIsDestroyed", "context is destroyed"},
    {710, "cudaErrorAssert", "device-side assert triggered"},
    {711, "cudaErrorTooManyPeers", "too many peers"},
    {712, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {713, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {714, "cudaErrorHardwareStackError", "hardware stack error"},
    {715, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
    {716, "cudaErrorMisalignedAddress", "misaligned address"},
    {717, "cudaErrorInvalidAddressSpace", "operation not supported on global/shared address space"},
    {718, "cudaErrorInvalidPc", "invalid program counter"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {721, "cudaErrorTensorMemoryLeak", "tensor memory leak"},
    {800, "cudaErrorNotPermitted", "operation not permitted"},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {802, "cudaErrorSystemNotReady", "system not ready"},
    {803, "cudaErrorSystemDriverMismatch", "system driver mismatch"},
    {804, "cudaErrorCompatNotSupportedOnDevice", "compat not supported on device"},
    {805, "cudaErrorMpsConnectionFailed", "mps connection failed"},
    {806, "cudaErrorMpsRpcFailure", "mps rpc failure"},
    {807, "cudaErrorMpsServerNotReady", "mps server not ready"},
    {808, "cudaErrorMpsMaxClientsReached", "mps max clients reached"},
    {809, "cudaErrorMpsMaxConnectionsReached", "mps max connections reached"},
    {810, "cudaErrorMpsClientTerminated", "mps client terminated"},
    {811, "cudaErrorCdpNotSupported", "cdp not supported"},
    {812, "cudaErrorCdpVersionMismatch", "cdp version mismatch"},
    {900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {901, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {902, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {903, "cudaErrorStreamCaptureUnmatched", "capture was not initiated in this stream"},
    {904, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {905, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {906, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {907, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {908, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {909, "cudaErrorTimeout", "timeout"},
    {910, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
    {911, "cudaErrorExternalDevice", "external device"},
    {912, "cudaErrorInvalidClusterSize", "cluster misconfiguration"},
    {913, "cudaErrorFunctionNotLoaded", "function not loaded"},
    {914, "cudaErrorInvalidResourceType", "invalid resource type"},
    {915, "cudaErrorInvalidResourceConfiguration", "invalid resource configuration"},
    {999, "cudaErrorUnknown", "unknown error"},
    {10000, "cudaErrorApiFailureBase", "api failure base"},
};

const Row* find(int code) {
  const Row* const row = std::ranges::lower_bound(kRows, code, {}, &Row::code);
  return row != std::end(kRows) && row->code == code ? row : nullptr;
}

}  // namespace

const char* error_name(int code) {
  const Row* const row = find(code);
  return row != nullptr ? row->name : "unrecognized error code";
}

const char* error_text(int code) {
  const Row* const row = find(code);
  return row != nullptr ? row->text : "unrecognized error code";
}

}  // namespace raddle::cudart
