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

const Call kCalls[] = {
    {"cudaStreamSynchronize of it", Rule::Never, kUnsupported,
     [](Scene& s) { return cudaStreamSynchronize(s.capturing); }},
    {"cudaStreamQuery of it", Rule::Never, kUnsupported,
     [](Scene& s) { return cudaStreamQuery(s.capturing); }},
    {"cudaStreamAddCallback", Rule::Never, kUnsupported,
     [](Scene& s) {
       return cudaStreamAddCallback(
           s.capturing, [](Stream, int, void*) {}, nullptr, 0);
     }},
    {"cudaStreamAttachMemAsync", Rule::Never, kUnsupported,
     [](Scene& s) { return cudaStreamAttachMemAsync(s.capturing, s.memory, 0, 4); }},
    {"cudaDeviceSynchronize", Rule::Never, kUnsupported,
     [](Scene&) { return cudaDeviceSynchronize(); }},
    {"cudaDeviceReset", Rule::Never, kUnsupported, [](Scene&) { return cudaDeviceReset(); }},
    {"cudaEventSynchronize of its event", Rule::Never, kCapturedEvent,
     [](Scene& s) { return cudaEventSynchronize(s.captured); }},
    {"cudaEventQuery of its event", Rule::Never, kCapturedEvent,
     [](Scene& s) { return cudaEventQuery(s.captured); }},
    {"cudaEventElapsedTime of its event", Rule::Never, kCapturedEvent,
     [](Scene& s) {
       float ms = 0;
       return cudaEventElapsedTime(&ms, s.plain, s.captured);
     }},
    {"cudaStreamWaitEvent of another event", Rule::Never, kIsolation,
     [](Scene& s) { return cudaStreamWaitEvent(s.capturing, s.plain, 0); }},
    {"cudaStreamSynchronize of another", Rule::Unsafe, 0,
     [](Scene& s) { return cudaStreamSynchronize(s.other); }},
    {"cudaStreamQuery of another", Rule::Unsafe, 0,
     [](Scene& s) { return cudaStreamQuery(s.other); }},
    {"cudaEventSynchronize of another", Rule::Unsafe, 0,
     [](Scene& s) { return cudaEventSynchronize(s.plain); }},
    {"cudaEventQuery of another", Rule::Unsafe, 0,
     [](Scene& s) { return cudaEventQuery(s.plain); }},
    {"cudaMalloc", Rule::Unsafe, 0,
     [](Scene&) {
       void* p = nullptr;
       return cudaMalloc(&p, 64);
     }},
    {"cudaMallocPitch", Rule::Unsafe, 0,
     [](Scene&) {
       void* p = nullptr;
       std::size_t pitch = 0;
       return cudaMallocPitch(&p, &pitch, 64, 2);
     }},
    {"cudaMallocManaged", Rule::Unsafe, 0,
     [](Scene&) {
       void* p = nullptr;
       return cudaMallocManaged(&p, 64, 1);
     }},
    {"cudaMallocHost", Rule::Unsafe, 0,
     [](Scene&) {
       void* p = nullptr;
       return cudaMallocHost(&p, 64);
     }},
    {"cudaHostAlloc", Rule::Unsafe, 0,
     [](Scene&) {
       void* p = nullptr;
       return cudaHostAlloc(&p, 64, 0);
     }},
    {"cudaMalloc3DArray", Rule::Unsafe, 0,
     [](Scene&) {
       Array a = nullptr;
       const Channel one{32, 0, 0, 0, 1};
       return cudaMalloc3DArray(&a, &one, {4, 3, 2}, 0);
     }},
    {"cudaFree", Rule::Unsafe, 0, [](Scene&) { return cudaFree(nullptr); }},
    {"cudaFreeHost", Rule::Unsafe, 0, [](Scene&) { return cudaFreeHost(nullptr); }},
    {"cudaFreeArray", Rule::Unsafe, 0, [](Scene&) { return cudaFreeArray(nullptr); }},
    {"launch into the legacy stream", Rule::Legacy, 0,
     [](Scene& s) { return bump(s.memory + 1, 1, 1); }},
    {"cudaMemsetAsync, legacy", Rule::Legacy, 0,
     [](Scene& s) { return cudaMemsetAsync(s.memory + 1, 0, 4, nullptr); }},
    {"cudaMemcpyAsync, legacy", Rule::Legacy, 0,
     [](Scene& s) { return cudaMemcpyAsync(s.memory + 1, s.memory, 4, kDeviceToDevice, nullptr); }},
    {"cudaEventRecord, legacy", Rule::Legacy, 0,
     [](Scene& s) { return cudaEventRecord(s.plain, nullptr); }},
    {"cudaStreamWaitEvent, legacy", Rule::Legacy, 0,
     [](Scene& s) { return cudaStreamWaitEvent(nullptr, s.plain, 0); }},
    {"cudaLaunchHostFunc, legacy", Rule::Legacy, 0,
     [](Scene&) {
       return cudaLaunchHostFunc(
           nullptr, [](void*) {}, nullptr);
     }},
    {"cudaMallocAsync, legacy", Rule::Legacy, 0,
     [](Scene&) {
       void* p = nullptr;
       return cudaMallocAsync(&p, 64, nullptr);
     }},
    {"cudaStreamSynchronize, legacy", Rule::LegacyWait, 0,
     [](Scene&) { return cudaStreamSynchronize(nullptr); }},
    {"cudaStreamQuery, legacy", Rule::LegacyWait, 0,
     [](Scene&) { return cudaStreamQuery(nullptr); }},
    {"cudaMemcpy", Rule::LegacyWait, 0,
     [](Scene& s) {
       unsigned v = 0;
       return cudaMemcpy(&v, s.memory, 4, kDeviceToHost);
     }},
    {"cudaMemset", Rule::LegacyWait, 0, [](Scene& s) { return cudaMemset(s.memory + 1, 0, 4); }},
    {"launch into it", Rule::Allowed, 0,
     [](Scene& s) { return bump(s.memory, 1, 1, s.capturing); }},
    {"launch into another", Rule::Allowed, 0,
     [](Scene& s) { return bump(s.memory + 1, 1, 1, s.other); }},
    {"cudaMemsetAsync into it", Rule::Allowed, 0,
     [](Scene& s) { return cudaMemsetAsync(s.memory, 0, 4, s.capturing); }},
    {"cudaMallocAsync", Rule::Allowed, 0,
     [](Scene& s) {
       void* p = nullptr;
       return cudaMallocAsync(&p, 64, s.capturing);
     }},
    {"cudaEventRecord", Rule::Allowed, 0,
     [](Scene& s) { return cudaEventRecord(s.captured, s.capturing); }},
    {"cudaEventQuery, never recorded", Rule::Allowed, 0,
     [](Scene& s) { return cudaEventQuery(s.fresh); }},
    {"cudaStreamCreate", Rule::Allowed, 0,
     [](Scene&) {
       Stream made = nullptr;
       return cudaStreamCreate(&made);
     }},
    {"cudaEventCreate", Rule::Allowed, 0,
     [](Scene&) {
       Event made = nullptr;
       return cudaEventCreate(&made);
     }},
    {"cudaLaunchHostFunc", Rule::Allowed, 0,
     [](Scene& s) {
       return cudaLaunchHostFunc(
           s.capturing, [](void*) {}, nullptr);
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
  Scene s;
  OK(cudaStreamCreateWithFlags(&s.capturing, blocking ? 0 : 1));
  OK(cudaStreamCreateWithFlags(&s.other, 1));
  for (Event* e : {&s.plain, &s.captured, &s.fresh}) OK(cudaEventCreate(e));
  s.memory = device<unsigned>(4);
  OK(cudaEventRecord(s.plain, s.other));
  return s;
}

void begin(Scene& s, int mode) {
  OK(cudaStreamBeginCapture(s.capturing, mode));
  OK(bump(s.memory, 1, 1, s.capturing));
  OK(cudaEventRecord(s.captured, s.capturing));
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
void judge(Scene& s, const char* name, int mode, bool blocking, int code, int wanted) {
  AS_TABLE(code == wanted);
  AS_TABLE(status_of(s.capturing) == (wanted != 0 ? kStatusInvalidated : kActive));
  int again = bump(s.memory, 1, 1, s.capturing);
  AS_TABLE(again == (wanted != 0 ? kInvalidated : 0));
  again = cudaEventRecord(s.captured, s.capturing);
  AS_TABLE(again == (wanted != 0 ? kInvalidated : 0));
  Graph graph = reinterpret_cast<Graph>(&s);
  const int end = cudaStreamEndCapture(s.capturing, &graph);
  AS_TABLE(end == (wanted != 0 ? kInvalidated : 0));
  AS_TABLE((graph == nullptr) == (wanted != 0));
  AS_TABLE(status_of(s.capturing) == kNone);
  OK(bump(s.memory, 1, 1, s.capturing));  // it is an ordinary stream again
  OK(cudaStreamSynchronize(s.capturing));
}

}  // namespace

int prohibited_in_captures() {
  for (const bool blocking : {true, false}) {
    Scene s = scene(blocking);
    for (int mode = kGlobal; mode <= kRelaxed; ++mode)
      for (const Call& call : kCalls) {
        begin(s, mode);
        judge(s, call.name, mode, blocking, call.make(s),
              expected(call, blocking, mode != kRelaxed));
        OK(cudaEventRecord(s.plain, s.other));
      }
  }
  // Asking about the legacy stream is wrong too, but does no harm.
  Scene s = scene(true);
  begin(s, kGlobal);
  int status = 0;
  GIVES(kImplicit, cudaStreamIsCapturing(nullptr, &status));
  GIVES(kImplicit,
        cudaStreamGetCaptureInfo(nullptr, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
  HOLDS(status_of(s.capturing) == kActive);
  GIVES(1, cudaStreamIsCapturing(s.capturing, nullptr));
  Graph graph = nullptr;
  OK(cudaStreamGetCaptureInfo(s.capturing, &status, nullptr, &graph, nullptr, nullptr, nullptr));
  GIVES(1, cudaGraphDestroy(graph));
  GIVES(1, cudaStreamEndCapture(s.capturing, nullptr));
  // What is no beginning and no end.
  GIVES(401, cudaStreamBeginCapture(s.capturing, kGlobal));
  GIVES(401, cudaStreamEndCapture(s.other, &graph));
  GIVES(900, cudaStreamBeginCapture(nullptr, kGlobal));
  OK(cudaStreamWaitEvent(s.other, s.captured, 0));
  GIVES(kUnmatched, cudaStreamEndCapture(s.other, &graph));
  OK(cudaStreamEndCapture(s.capturing, &graph));
  HOLDS(status_of(s.other) == kNone);
  GIVES(1, cudaStreamBeginCapture(s.capturing, 3));
  // Two captures are never one: both are lost.
  begin(s, kGlobal);
  OK(cudaStreamBeginCapture(s.other, kGlobal));
  GIVES(kMerge, cudaStreamWaitEvent(s.other, s.captured, 0));
  for (Stream lost : {s.capturing, s.other}) {
    GIVES(kInvalidated, cudaStreamEndCapture(lost, &graph));
    HOLDS(graph == nullptr);
  }
  return 0;
}

/// The modes of the capture and of another thread.
int captures_of_threads() {
  for (const bool blocking : {true, false}) {
    Scene s = scene(blocking);
    for (int mode = kGlobal; mode <= kRelaxed; ++mode)
      for (int of_thread = kGlobal; of_thread <= kRelaxed; ++of_thread)
        for (const Call& call : kCalls) {
          begin(s, mode);
          int code = -1;
          std::thread([&] {
            int exchanged = of_thread;
            OK(cudaThreadExchangeStreamCaptureMode(&exchanged));
            HOLDS(exchanged == kGlobal);
            code = call.make(s);
          }).join();
          judge(s, call.name, mode, blocking, code,
                expected(call, blocking, mode == kGlobal && of_thread == kGlobal));
          OK(cudaEventRecord(s.plain, s.other));
        }
    // The thread that captures, when it has another mode itself.
    for (int of_thread = kGlobal; of_thread <= kRelaxed; ++of_thread) {
      begin(s, kGlobal);
      int exchanged = of_thread;
      OK(cudaThreadExchangeStreamCaptureMode(&exchanged));
      void* p = nullptr;
      const int code = cudaMalloc(&p, 64);
      OK(cudaThreadExchangeStreamCaptureMode(&exchanged));
      HOLDS(exchanged == of_thread);
      judge(s, "cudaMalloc", of_thread, blocking, code, of_thread != kRelaxed ? kUnsupported : 0);
    }
  }
  for (int bad : {-1, 3}) GIVES(1, cudaThreadExchangeStreamCaptureMode(&bad));
  GIVES(1, cudaThreadExchangeStreamCaptureMode(nullptr));
  // Only relaxed captures may end in another thread.
  Scene s = scene(true);
  for (int mode = kGlobal; mode <= kRelaxed; ++mode) {
    begin(s, mode);
    Graph graph = nullptr;
    int code = -1;
    std::thread([&] { code = cudaStreamEndCapture(s.capturing, &graph); }).join();
    HOLDS(code == (mode == kRelaxed ? 0 : kWrongThread));
    if (mode != kRelaxed) OK(cudaStreamEndCapture(s.capturing, &graph));
    HOLDS(graph != nullptr);
  }
  return 0;
}

/// Events that stay outside of the capture: nodes that record them and wait for them.
int external_events() {
  Scene s = scene(false);
  OK(cudaMemset(s.memory, 0, 16));
  GIVES(1, cudaEventRecordWithFlags(s.fresh, s.capturing, 1));
  GIVES(1, cudaStreamWaitEvent(s.capturing, s.plain, 1));
  begin(s, kGlobal);
  OK(cudaStreamWaitEvent(s.capturing, s.plain, 1));
  OK(bump(s.memory, 10, 2000, s.capturing));
  OK(cudaEventRecordWithFlags(s.fresh, s.capturing, 1));
  Graph graph = nullptr;
  OK(cudaStreamEndCapture(s.capturing, &graph));
  GraphExec exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaEventRecord(s.plain, s.other));
  OK(cudaGraphLaunch(exec, s.capturing));
  OK(cudaStreamWaitEvent(s.other, s.fresh, 0));
  OK(bump(s.memory, 100, 1, s.other));
  OK(cudaEventSynchronize(s.fresh));
  OK(cudaDeviceSynchronize());
  unsigned sum = 0;
  OK(cudaMemcpy(&sum, s.memory, 4, kDeviceToHost));
  HOLDS(sum == 111);
  float milliseconds = 0;
  OK(cudaEventElapsedTime(&milliseconds, s.plain, s.fresh));
  HOLDS(milliseconds >= 0);
  return 0;
}
