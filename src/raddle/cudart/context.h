// The state of the CUDA runtime in this process: one simulated device, what was registered, what
// was made. There is one of it, made when the library is first called, because the interface that
// it stands behind has no handle for it; every other state of Raddle hangs on this.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "raddle/cudart/abi.h"
#include "raddle/cudart/run_watch.h"
#include "raddle/ptx/link.h"
#include "raddle/sim/run/exec_job.h"
#include "raddle/sim/run/session.h"

namespace raddle::cudart {

/// A call that fails: what it returns, and why in words (empty: the code says it all).
struct Failure {
  Error code;
  std::string message = {};
};

/// Where a call's result goes. Throws Failure: nowhere.
template <class T>
T& required(T* pointer) {
  if (pointer == nullptr) throw Failure{kInvalidValue};
  return *pointer;
}

/// A list that a call is given with its length; without items it may be nowhere. Throws Failure.
template <class T>
std::span<T> listed(T* items, std::size_t count) {
  if (items == nullptr && count != 0) throw Failure{kInvalidValue};
  return {items, count};
}

/// What a program may hold a pointer to. A pointer that is not one of ours is refused.
template <class T>
class Handles {
 public:
  template <class... Args>
  T* make(Args&&... args) {
    auto item = std::make_unique<T>(T{std::forward<Args>(args)...});
    T* const raw = item.get();
    items_.emplace(raw, std::move(item));
    return raw;
  }
  bool has(const void* handle) const { return items_.contains(handle); }
  T& get(const void* handle) const {
    const auto found = items_.find(handle);
    if (found == items_.end()) throw Failure{kInvalidResourceHandle};
    return *found->second;
  }
  void drop(const void* handle) {
    if (items_.erase(handle) == 0) throw Failure{kInvalidResourceHandle};
  }
  void clear() { items_.clear(); }
  std::size_t size() const { return items_.size(); }
  /// In an order that differs from run to run: for what does not depend on it.
  template <class F>
  void each(F f) {
    for (auto& [handle, item] : items_) f(*item);
  }

 private:
  std::map<const void*, std::unique_ptr<T>> items_;
};

/// A __device__, __constant__ or __managed__ variable.
struct Variable {
  std::string name;
  std::size_t bytes = 0;
  void** managed = nullptr;  ///< where the host keeps its pointer to a managed one
};

struct Kernel;

/// What __cudaRegisterFatBinary was given, with what was registered for it afterwards; or what the
/// driver interface has loaded, without a wrapper.
struct Module {
  const void* wrapper = nullptr;
  std::map<const void*, Variable> variables = {};  ///< by host address
  std::optional<runtime::ModuleId> id = {};        ///< when loaded
  std::optional<Failure> refused = {};             ///< when loading failed
  std::map<std::string, Kernel*> kernels = {};     ///< asked for by name (cuModuleGetFunction)
  bool unloaded = false;                           ///< its handles are of no use any more
  bool library = false;                            ///< of cuLibraryLoad*: outlives its context
  /// What variables hold at first that the loader has put together of addresses; by name.
  std::map<std::string, std::vector<std::byte>> relocated = {};
};

/// A __global__ function.
struct Kernel {
  Module* module;
  std::string name;
  std::optional<runtime::KernelId> id = {};
  int max_dynamic_shared_bytes = -1;  ///< cudaFuncAttributeMaxDynamicSharedMemorySize; -1 = not set
  int carveout = -1;
  bool large_clusters = false;                  ///< cudaFuncAttributeNonPortableClusterSizeAllowed
  std::optional<trace::KernelCode> needs = {};  ///< see needs_of()
};

struct Capture;
enum class NodeType : int;

/// cudaStreamCaptureMode.
enum class CaptureMode : int { Global, ThreadLocal, Relaxed };

inline constexpr unsigned kNonBlockingStream = 1;   ///< flag of a stream
inline constexpr unsigned kEventDisableTiming = 2;  ///< flag of an event

struct Stream {
  StreamId id{};
  unsigned flags = 0;
  int priority = 0;
  std::shared_ptr<Capture> capture = {};  ///< while it captures
  std::vector<GraphNode*> tips = {};      ///< then: what its next operation depends on
};

struct Event {
  runtime::EventId id{};
  unsigned flags = 0;
  bool recorded = false;
  std::shared_ptr<Capture> capture = {};  ///< recorded in a stream that captures
  std::vector<GraphNode*> captured = {};  ///< then: what it stands for
};

struct Pool {
  std::array<std::uint64_t, 9> attributes = {};
  std::uint64_t used = 0;      ///< bytes
  std::uint64_t max_size = 0;  ///< likewise; 0: what the device has
};

/// A range of the program's own memory (cudaHostRegister).
struct Registered {
  Address start;
  std::size_t bytes;
  unsigned flags;
  Address mirror;  ///< its copy in device memory; 0 until a program asks for a device pointer
};

struct Allocation {
  std::size_t bytes;
  enum class Kind : std::uint8_t { Device, Host, Managed, Array } kind;
  unsigned flags = 0;
  Pool* pool = nullptr;  ///< that it was taken from; nullptr: none, or it is no more
  void leave_pool() {
    if (pool != nullptr) pool->used -= bytes;
  }
};

/// CUcontext. There is one device and one memory, which all contexts share: a context is a handle
/// that threads must have one of.
struct DriverContext {
  unsigned flags = 0;
  unsigned long long id = 0;
};

/// What a program asks of compiling: pairs of CUjit_option and value. Logs are written to where
/// values lead, and their lengths over the values.
struct JitOptions {
  unsigned count = 0;
  const int* options = nullptr;
  void** values = nullptr;
};

/// CUlinkState: PTX texts to be linked into one module.
struct Link {
  JitOptions options = {};
  void *error_bytes = nullptr, *info_bytes = nullptr;  ///< room in their logs, as first given
  std::vector<ptx::SourceText> sources = {};
  std::string image = {};  ///< as cuLinkComplete gives it
};

/// Of each host thread.
struct ThreadState {
  struct Configuration {
    Dim3 grid, block;
    std::size_t shared_bytes;
    Stream* stream;
  };
  int last_error = kSuccess;
  bool per_thread = false;  ///< the call under way was made by its _ptds or _ptsz name
  std::vector<Configuration> configurations = {};
  Stream* stream = nullptr;    ///< its cudaStreamPerThread
  unsigned stream_resets = 0;  ///< how often the device had been reset when that was made
  CaptureMode capture_mode = CaptureMode::Global;
  struct DriverCall {
    const char* name;
    int last_error;  ///< of the runtime, which calls of the driver interface leave alone
  };
  std::vector<DriverCall> driver_calls = {};  ///< under way
  std::vector<DriverContext*> contexts = {};  ///< the stack of cuCtxPushCurrent
  bool used_runtime = false;                  ///< which makes the primary context current
};
ThreadState& thread_state();

class Context {
 public:
  Context();
  ~Context();

  std::recursive_mutex mutex;
  Handles<Module> modules;
  Handles<Kernel> kernels;
  std::map<const void*, Kernel*> kernels_by_stub;
  std::map<const void*, Module*> variable_owner;  ///< by host address
  std::vector<Module*> managed;                   ///< modules with managed variables not yet loaded
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<Array> arrays;
  /// What texture and surface objects were made of, by handle, for programs that ask.
  std::map<std::uint64_t, std::pair<ResourceDescription, TextureFetch>> textures;
  std::map<std::uint64_t, ResourceDescription> surfaces;
  Handles<Pool> pools;
  Pool *default_pool = nullptr, *current_pool = nullptr;  ///< current: null = the default one
  Handles<Graph> graphs;
  Handles<GraphExec> graph_execs;
  std::vector<std::shared_ptr<Capture>> captures;  ///< under way
  unsigned long long captures_begun = 0;
  std::map<Address, Allocation> allocations;
  std::map<Address, Registered> registered;
  unsigned device_flags = 0;
  std::map<int, std::size_t> limits;
  Handles<DriverContext> driver_contexts;
  DriverContext* primary = nullptr;     ///< the runtime's own
  unsigned long long last_context = 1;  ///< number of the newest; the primary one is 1
  unsigned primary_users = 0;           ///< cuDevicePrimaryCtxRetain
  Handles<Link> links;
  bool driver_initialized = false;  ///< cuInit
  unsigned resets = 0;              ///< of the device
  std::atomic<bool> ended = false;  ///< finish() was called: the device is no more

  bool started() const { return session_ != nullptr; }
  const std::string& program() const { return job_.name; }
  /// The simulated device; the first call starts it. Throws Failure when that is not possible.
  sim::Session& session();
  runtime::SimulatedDevice& device() { return session().device(); }
  /// What programs see of the set-up that they run on.
  const sim::SeenByProgram& seen() { return session().seen(); }
  bool timed() { return !job_.functional && job_.record.empty(); }

  /// Loads the module's PTX when that has not been done. Throws Failure.
  runtime::ModuleId load(Module& module);
  /// By host stub or handle. Throws Failure.
  Kernel& kernel(const void* function);
  /// Part of a variable that was declared __managed__, of a module that is loaded.
  bool is_managed_variable(Address address) const;
  runtime::KernelId loaded(Kernel& kernel);
  struct Symbol {
    Address address;
    std::size_t bytes;
  };
  /// Of a registered variable. Throws Failure.
  Symbol symbol(const void* host_variable);

  /// What a program names by `stream`, the default streams among them. Throws Failure.
  Stream& stream(Stream* stream);
  /// Does `work` as an operation of the stream, which is usable() (capture.h); a stream that
  /// captures only notes it down.
  using Work = std::function<void(Context&, StreamId)>;
  void enqueue(Stream& stream, NodeType type, Work work);

  Address allocate(std::size_t bytes, Allocation::Kind kind, unsigned flags = 0);
  /// The allocation that holds the address; null when none does.
  const std::pair<const Address, Allocation>* allocation(Address address) const;

  /// Tells the user why a call was refused.
  void note(std::string_view call, std::string_view why);
  /// Remembers that the run has failed and tells the user; `raddle exec` ends with status 1.
  void fail(const std::string& message);
  /// A function that we do not have was called.
  void unsupported(const std::string& what, const char* code = "cudaErrorNotSupported");
  /// A function that we have was asked for what we do not have. Throws Failure.
  [[noreturn]] void refuse_unsupported(const std::string& what,
                                       const char* code = "cudaErrorNotSupported");
  /// A thread comes with a call, and has not got the mutex yet. Where several launch kernels, one
  /// that would wait for the device lets the others come first, until none comes any more: a GPU
  /// begins with what they launch while this one waits.
  void comes(std::string_view call);
  /// A kernel has been launched; a launch was not possible.
  void launched();
  void launch_refused(Error code);
  /// A library of machine code has asked for the driver, in this call of its own; "" is unknown.
  void driver_wanted(const std::string& library, const std::string& function);
  /// Of the run, while a call of the program's lasts.
  RunWatch watch;
  /// An error that stays, as CUDA's do after a fault of a kernel.
  int sticky = kSuccess;

  /// Puts the result where `raddle exec` looks for it. Called once, at the end of the process;
  /// calls of other threads fail from then on.
  void finish();
  /// This process is a copy made by fork(): the device is its parent's.
  bool forked() const;

 private:
  void start();
  void await_other_thread(std::unique_lock<std::recursive_mutex>& lock);
  void stop_when_ending();
  void write_result();
  void notify_strays();
  std::string why_nothing() const;
  sim::ExecJob job_;
  std::string folder_;
  long process_;
  std::optional<Failure> refused_;  // to start
  std::unique_ptr<sim::Session> session_;
  Stream legacy_;
  sim::ExecOutcome outcome_;
  std::uint64_t launches_ = 0, refused_launches_ = 0;
  std::thread::id launcher_;                     // the first host thread that has launched
  std::atomic<bool> several_launchers_ = false;  // ... was not the only one, which has been told
  std::atomic<std::uint64_t> calls_ = 0;
  Error first_refused_ = kSuccess;
  std::atomic<bool> ending_ = false, stopped_ = false;  // see await_other_thread()
};

/// The process's.
Context& context();

/// Runs the body of a call and gives its error code: exceptions become codes, the thread's last
/// error is set, and the first failure of the run's own is told.
int call(const char* name, const std::function<Error(Context&)>& body);

}  // namespace raddle::cudart
