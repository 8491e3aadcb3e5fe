// What programs may not do while streams capture: every prohibited call, in every mode, from both
// kinds of stream; what it returns, and what becomes of the capture. After the CUDA C++ programming
// guide ("Prohibited and unhandled operations", "Invalidation") and the reference of
// cudaThreadExchangeStreamCaptureMode.
#include <iterator>
#include <thread>

#include "checks.h"

namespace {

enum Mode : int { kGlobal, kThreadLocal, kRelaxed };
constexpr int kUnsupported = 900, kInvalidated = 901, kMerge = 902, kUnmatched = 903,
              kIsolation = 905, kImplicit = 906, kCapturedEvent = 907, kWrongThread = 908;
constexpr int kNone = 0, kActive = 1, kStatusInvalidated = 2;

/// What the calls below work on.
struct Scene {
  Stream capturing = nullptr, other = nullptr;
  Event plain = nullptr;     ///< recorded in `other`
  Event captured = nullptr;  ///< recorded in `capturing` while that captures
  Event fresh = nullptr;     ///< recorded nowhere
  unsigned* memory = nullptr;
  // What calls make.
  void* made = nullptr;
  std::size_t pitch = 0;
  Array array = nullptr;
  Stream stream = nullptr;
  Event event = nullptr;
  float milliseconds = 0;
  unsigned value = 0;
};

enum class Rule {
  Never,       ///< it conflicts with any capture
  Unsafe,      ///< it depends on modes
  Legacy,      ///< it puts something into the legacy stream
  LegacyWait,  ///< it waits for the legacy stream: both
  Allowed,
};

struct Call {
  const char* name;
  Rule rule;
  int code;  ///< of Never
  int (*make)(Scene&);
};

const Channel kOneWord{32, 0, 0, 0, 1};

const Call kCalls[] = {
    {"cudaStreamSynchronize of it", Rule::Never, kUnsupported,
     [](Scene& place) { return cudaStreamSynchronize(place.capturing); }},
    {"cudaStreamQuery of it", Rule::Never, kUnsupported,
     [](Scene& place) { return cudaStreamQuery(place.capturing); }},
    {"cudaStreamAddCallback", Rule::Never, kUnsupported,
     [](Scene& place) {
       return cudaStreamAddCallback(
           place.capturing, [](Stream, int, void*) {}, nullptr, 0);
     }},
    {"cudaStreamAttachMemAsync", Rule::Never, kUnsupported,
     [](Scene& place) { return cudaStreamAttachMemAsync(place.capturing, place.memory, 0, 4); }},
    {"cudaDeviceSynchronize", Rule::Never, kUnsupported,
     [](Scene&) { return cudaDeviceSynchronize(); }},
    {"cudaDeviceReset", Rule::Never, kUnsupported, [](Scene&) { return cudaDeviceReset(); }},
    {"cudaEventSynchronize of its event", Rule::Never, kCapturedEvent,
     [](Scene& place) { return cudaEventSynchronize(place.captured); }},
    {"cudaEventQuery of its event", Rule::Never, kCapturedEvent,
     [](Scene& place) { return cudaEventQuery(place.captured); }},
    {"cudaEventElapsedTime of its event", Rule::Never, kCapturedEvent,
     [](Scene& place) {
       return cudaEventElapsedTime(&place.milliseconds, place.plain, place.captured);
     }},
    {"cudaStreamWaitEvent of another event", Rule::Never, kIsolation,
     [](Scene& place) { return cudaStreamWaitEvent(place.capturing, place.plain, 0); }},
    {"cudaStreamSynchronize of another", Rule::Unsafe, 0,
     [](Scene& place) { return cudaStreamSynchronize(place.other); }},
    {"cudaStreamQuery of another", Rule::Unsafe, 0,
     [](Scene& place) { return cudaStreamQuery(place.other); }},
    {"cudaEventSynchronize of another", Rule::Unsafe, 0,
     [](Scene& place) { return cudaEventSynchronize(place.plain); }},
    {"cudaEventQuery of another", Rule::Unsafe, 0,
     [](Scene& place) { return cudaEventQuery(place.plain); }},
    {"cudaMalloc", Rule::Unsafe, 0, [](Scene& place) { return cudaMalloc(&place.made, 64); }},
    {"cudaMallocPitch", Rule::Unsafe, 0,
     [](Scene& place) { return cudaMallocPitch(&place.made, &place.pitch, 64, 2); }},
    {"cudaMallocManaged", Rule::Unsafe, 0,
     [](Scene& place) { return cudaMallocManaged(&place.made, 64, 1); }},
    {"cudaMallocHost", Rule::Unsafe, 0,
     [](Scene& place) { return cudaMallocHost(&place.made, 64); }},
    {"cudaHostAlloc", Rule::Unsafe, 0,
     [](Scene& place) { return cudaHostAlloc(&place.made, 64, 0); }},
    {"cudaMalloc3DArray", Rule::Unsafe, 0,
     [](Scene& place) {
       return cudaMalloc3DArray(&place.array, &kOneWord, {4, 3, 2}, 0);
     }},
    {"cudaHostRegister and cudaHostUnregister", Rule::Unsafe, 0,
     [](Scene& place) {
       const int code = cudaHostRegister(&place.value, 4, 0);
       return code != 0 ? code : cudaHostUnregister(&place.value);
     }},
    {"cudaFree", Rule::Unsafe, 0, [](Scene&) { return cudaFree(nullptr); }},
    {"cudaFreeHost", Rule::Unsafe, 0, [](Scene&) { return cudaFreeHost(nullptr); }},
    {"cudaFreeArray", Rule::Unsafe, 0, [](Scene&) { return cudaFreeArray(nullptr); }},
    {"launch into the legacy stream", Rule::Legacy, 0,
     [](Scene& place) { return bump(place.memory + 1, 1, 1); }},
    {"cudaMemsetAsync, legacy", Rule::Legacy, 0,
     [](Scene& place) { return cudaMemsetAsync(place.memory + 1, 0, 4, nullptr); }},
    {"cudaMemcpyAsync, legacy", Rule::Legacy, 0,
     [](Scene& place) {
       return cudaMemcpyAsync(place.memory + 1, place.memory, 4, kDeviceToDevice, nullptr);
     }},
    {"cudaEventRecord, legacy", Rule::Legacy, 0,
     [](Scene& place) { return cudaEventRecord(place.plain, nullptr); }},
    {"cudaStreamWaitEvent, legacy", Rule::Legacy, 0,
     [](Scene& place) { return cudaStreamWaitEvent(nullptr, place.plain, 0); }},
    {"cudaLaunchHostFunc, legacy", Rule::Legacy, 0,
     [](Scene&) {
       return cudaLaunchHostFunc(
           nullptr, [](void*) {}, nullptr);
     }},
    {"cudaMallocAsync, legacy", Rule::Legacy, 0,
     [](Scene& place) { return cudaMallocAsync(&place.made, 64, nullptr); }},
    {"cudaStreamSynchronize, legacy", Rule::LegacyWait, 0,
     [](Scene&) { return cudaStreamSynchronize(nullptr); }},
    {"cudaStreamQuery, legacy", Rule::LegacyWait, 0,
     [](Scene&) { return cudaStreamQuery(nullptr); }},
    {"cudaMemcpy", Rule::LegacyWait, 0,
     [](Scene& place) { return cudaMemcpy(&place.value, place.memory, 4, kDeviceToHost); }},
    {"cudaMemset", Rule::LegacyWait, 0,
     [](Scene& place) { return cudaMemset(place.memory + 1, 0, 4); }},
    {"launch into it", Rule::Allowed, 0,
     [](Scene& place) { return bump(place.memory, 1, 1, place.capturing); }},
    {"launch into another", Rule::Allowed, 0,
     [](Scene& place) { return bump(place.memory + 1, 1, 1, place.other); }},
    {"cudaMemsetAsync into it", Rule::Allowed, 0,
     [](Scene& place) { return cudaMemsetAsync(place.memory, 0, 4, place.capturing); }},
    {"cudaMallocAsync", Rule::Allowed, 0,
     [](Scene& place) { return cudaMallocAsync(&place.made, 64, place.capturing); }},
    {"cudaEventRecord", Rule::Allowed, 0,
     [](Scene& place) { return cudaEventRecord(place.captured, place.capturing); }},
    {"cudaEventQuery, never recorded", Rule::Allowed, 0,
     [](Scene& place) { return cudaEventQuery(place.fresh); }},
    {"cudaStreamCreate", Rule::Allowed, 0,
     [](Scene& place) { return cudaStreamCreate(&place.stream); }},
    {"cudaEventCreate", Rule::Allowed, 0,
     [](Scene& place) { return cudaEventCreate(&place.event); }},
    {"cudaLaunchHostFunc", Rule::Allowed, 0,
     [](Scene& place) {
       return cudaLaunchHostFunc(
           place.capturing, [](void*) {}, nullptr);
     }},
};

int expected(const Call& call, bool blocking, bool unsafe_prohibited) {
  const int unsafe = unsafe_prohibited ? kUnsupported : 0, legacy = blocking ? kImplicit : 0;
  switch (call.rule) {
    case Rule::Never:
      return call.code;
    case Rule::Unsafe:
      return unsafe;
    case Rule::Legacy:
      return legacy;
    case Rule::LegacyWait:
      return legacy != 0 ? legacy : unsafe;
    case Rule::Allowed:
      return 0;
  }
  return -1;
}

Scene scene(bool blocking) {
  Scene place;
  OK(cudaStreamCreateWithFlags(&place.capturing, blocking ? 0 : 1));
  OK(cudaStreamCreateWithFlags(&place.other, 1));
  for (Event* e : {&place.plain, &place.captured, &place.fresh}) OK(cudaEventCreate(e));
  place.memory = device<unsigned>(4);
  OK(cudaEventRecord(place.plain, place.other));
  return place;
}

void begin(Scene& place, int mode) {
  OK(cudaStreamBeginCapture(place.capturing, mode));
  OK(bump(place.memory, 1, 1, place.capturing));
  OK(cudaEventRecord(place.captured, place.capturing));
}

int status_of(Stream stream) {
  int status = -1;
  OK(cudaStreamIsCapturing(stream, &status));
  return status;
}

#define AS_TABLE(condition)                                                               \
  if (!(condition)) {                                                                     \
    std::printf("%s, mode %d, %s stream: ", name, mode, blocking ? "blocking" : "other"); \
    wrong(#condition, __LINE__, code);                                                    \
  }

/// That the call gave what it should, and that the capture is over or goes on accordingly.
void judge(Scene& place, const char* name, int mode, bool blocking, int code, int wanted) {
  AS_TABLE(code == wanted);
  AS_TABLE(status_of(place.capturing) == (wanted != 0 ? kStatusInvalidated : kActive));
  int again = bump(place.memory, 1, 1, place.capturing);
  AS_TABLE(again == (wanted != 0 ? kInvalidated : 0));
  again = cudaEventRecord(place.captured, place.capturing);
  AS_TABLE(again == (wanted != 0 ? kInvalidated : 0));
  Graph graph = reinterpret_cast<Graph>(&place);
  const int end = cudaStreamEndCapture(place.capturing, &graph);
  AS_TABLE(end == (wanted != 0 ? kInvalidated : 0));
  AS_TABLE((graph == nullptr) == (wanted != 0));
  AS_TABLE(status_of(place.capturing) == kNone);
  OK(bump(place.memory, 1, 1, place.capturing));  // it is an ordinary stream again
  OK(cudaStreamSynchronize(place.capturing));
}

}  // namespace

int prohibited_in_captures() {
  for (const bool blocking : {true, false}) {
    Scene place = scene(blocking);
    for (int mode = kGlobal; mode <= kRelaxed; ++mode)
      for (const Call& call : kCalls) {
        begin(place, mode);
        judge(place, call.name, mode, blocking, call.make(place),
              expected(call, blocking, mode != kRelaxed));
        OK(cudaEventRecord(place.plain, place.other));
      }
  }
  // Asking about the legacy stream is wrong too, but does no harm.
  Scene place = scene(true);
  begin(place, kGlobal);
  int status = 0;
  GIVES(kImplicit, cudaStreamIsCapturing(nullptr, &status));
  GIVES(kImplicit,
        cudaStreamGetCaptureInfo(nullptr, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
  HOLDS(status_of(place.capturing) == kActive);
  GIVES(1, cudaStreamIsCapturing(place.capturing, nullptr));
  Graph graph = nullptr;
  OK(cudaStreamGetCaptureInfo(place.capturing, &status, nullptr, &graph, nullptr, nullptr,
                              nullptr));
  GIVES(1, cudaGraphDestroy(graph));
  GIVES(1, cudaStreamEndCapture(place.capturing, nullptr));
  // What is no beginning and no end.
  GIVES(401, cudaStreamBeginCapture(place.capturing, kGlobal));
  GIVES(401, cudaStreamEndCapture(place.other, &graph));
  GIVES(900, cudaStreamBeginCapture(nullptr, kGlobal));
  OK(cudaStreamWaitEvent(place.other, place.captured, 0));
  GIVES(kUnmatched, cudaStreamEndCapture(place.other, &graph));
  OK(cudaStreamEndCapture(place.capturing, &graph));
  HOLDS(status_of(place.other) == kNone);
  GIVES(1, cudaStreamBeginCapture(place.capturing, 3));
  // Two captures are never one: both are lost.
  begin(place, kGlobal);
  OK(cudaStreamBeginCapture(place.other, kGlobal));
  GIVES(kMerge, cudaStreamWaitEvent(place.other, place.captured, 0));
  for (Stream lost : {place.capturing, place.other}) {
    GIVES(kInvalidated, cudaStreamEndCapture(lost, &graph));
    HOLDS(graph == nullptr);
  }
  return 0;
}

/// The modes of the capture and of another thread.
int captures_of_threads() {
  for (const bool blocking : {true, false}) {
    Scene place = scene(blocking);
    for (int mode = kGlobal; mode <= kRelaxed; ++mode)
      for (int of_thread = kGlobal; of_thread <= kRelaxed; ++of_thread)
        for (const Call& call : kCalls) {
          begin(place, mode);
          int code = -1;
          std::thread([&] {
            int exchanged = of_thread;
            OK(cudaThreadExchangeStreamCaptureMode(&exchanged));
            HOLDS(exchanged == kGlobal);
            code = call.make(place);
          }).join();
          judge(place, call.name, mode, blocking, code,
                expected(call, blocking, mode == kGlobal && of_thread == kGlobal));
          OK(cudaEventRecord(place.plain, place.other));
        }
    // The thread that captures, when it has another mode itself.
    for (int of_thread = kGlobal; of_thread <= kRelaxed; ++of_thread) {
      begin(place, kGlobal);
      int exchanged = of_thread;
      OK(cudaThreadExchangeStreamCaptureMode(&exchanged));
      void* made = nullptr;
      const int code = cudaMalloc(&made, 64);
      OK(cudaThreadExchangeStreamCaptureMode(&exchanged));
      HOLDS(exchanged == of_thread);
      judge(place, "cudaMalloc", of_thread, blocking, code,
            of_thread != kRelaxed ? kUnsupported : 0);
    }
  }
  for (int bad : {-1, 3}) GIVES(1, cudaThreadExchangeStreamCaptureMode(&bad));
  GIVES(1, cudaThreadExchangeStreamCaptureMode(nullptr));
  // Only relaxed captures may end in another thread.
  Scene place = scene(true);
  for (int mode = kGlobal; mode <= kRelaxed; ++mode) {
    begin(place, mode);
    Graph graph = nullptr;
    int code = -1;
    std::thread([&] { code = cudaStreamEndCapture(place.capturing, &graph); }).join();
    HOLDS(code == (mode == kRelaxed ? 0 : kWrongThread));
    if (mode != kRelaxed) OK(cudaStreamEndCapture(place.capturing, &graph));
    HOLDS(graph != nullptr);
  }
  return 0;
}

/// A node records an event that a capture has recorded before: from then on it is an ordinary one.
void recorded_anew(Scene& place) {
  begin(place, kRelaxed);  // records place.captured in the capture
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  OK(cudaStreamEndCapture(place.capturing, &graph));
  OK(cudaStreamBeginCapture(place.capturing, kRelaxed));
  OK(cudaEventRecordWithFlags(place.captured, place.capturing, 1));
  OK(bump(place.memory, 1, 2000, place.capturing));
  OK(cudaEventRecordWithFlags(place.fresh, place.capturing, 1));
  OK(cudaStreamEndCapture(place.capturing, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  GIVES(kCapturedEvent, cudaEventQuery(place.captured));
  for (int i = 0; i < 2; ++i) {
    OK(cudaGraphLaunch(exec, place.capturing));
    OK(cudaStreamSynchronize(place.capturing));
    OK(cudaEventQuery(place.captured));
    OK(cudaStreamWaitEvent(place.other, place.captured, 0));
    float milliseconds = 0;
    OK(cudaEventElapsedTime(&milliseconds, place.captured, place.fresh));
    HOLDS(milliseconds > 0);
  }
  // Not while it stands for what a capture has done.
  begin(place, kRelaxed);
  GIVES(kCapturedEvent, cudaGraphLaunch(exec, place.other));
  OK(cudaStreamEndCapture(place.capturing, &graph));
}

/// Events that stay outside of the capture: nodes that record them and wait for them.
int external_events() {
  Scene place = scene(false);
  OK(cudaMemset(place.memory, 0, 16));
  GIVES(1, cudaEventRecordWithFlags(place.fresh, place.capturing, 1));
  GIVES(1, cudaStreamWaitEvent(place.capturing, place.plain, 1));
  begin(place, kGlobal);
  OK(cudaStreamWaitEvent(place.capturing, place.plain, 1));
  OK(bump(place.memory, 10, 2000, place.capturing));
  OK(cudaEventRecordWithFlags(place.fresh, place.capturing, 1));
  Graph graph = nullptr;
  OK(cudaStreamEndCapture(place.capturing, &graph));
  GraphExec exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaEventRecord(place.plain, place.other));
  OK(cudaGraphLaunch(exec, place.capturing));
  OK(cudaStreamWaitEvent(place.other, place.fresh, 0));
  OK(bump(place.memory, 100, 1, place.other));
  OK(cudaEventSynchronize(place.fresh));
  OK(cudaDeviceSynchronize());
  unsigned sum = 0;
  OK(cudaMemcpy(&sum, place.memory, 4, kDeviceToHost));
  HOLDS(sum == 111);
  float milliseconds = 0;
  OK(cudaEventElapsedTime(&milliseconds, place.plain, place.fresh));
  HOLDS(milliseconds >= 0);
  recorded_anew(place);
  return 0;
}
