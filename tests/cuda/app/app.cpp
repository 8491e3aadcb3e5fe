// A CUDA program without a toolkit: each scenario checks itself and ends with 0 only when what it
// saw is right. tests/cuda runs them under raddle exec.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <numeric>

#include "checks.h"
#include "cuda.h"
#include "kernels.h"

namespace {

char counter_host, table_host;
char add_stub, bump_stub, count_stub, stop_stub, odd_stub, sass_stub;

/// What a compiler's constructors do.
struct Registration {
  std::string image = container(kPtx, 1, 70), odd = container(kOddPtx, 1, 70),
              sass = container("no PTX here", 2, 90);
  Registration() {
    void** const handle = register_binary(image);
    const auto entry = [](void** h, const char& stub, const char* name) {
      __cudaRegisterFunction(h, &stub, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr,
                             nullptr);
    };
    entry(handle, add_stub, "add");
    entry(handle, bump_stub, "bump");
    entry(handle, count_stub, "count");
    entry(handle, stop_stub, "stop");
    __cudaRegisterVar(handle, &counter_host, nullptr, "counter", 0, 4, 0, 0);
    __cudaRegisterVar(handle, &table_host, nullptr, "table", 0, 16, 1, 0);
    __cudaRegisterFatBinaryEnd(handle);
    entry(register_binary(odd), odd_stub, "odd");
    entry(register_binary(sass), sass_stub, "sass");
  }
} registration;

}  // namespace

int bump(unsigned* at, unsigned value, unsigned spins, Stream stream, unsigned blocks) {
  void* arguments[] = {&at, &value, &spins};
  return cudaLaunchKernel(&bump_stub, {blocks}, {1}, arguments, 0, stream);
}
int count_up() { return cudaLaunchKernel(&count_stub, {1}, {1}, nullptr, 0, nullptr); }

namespace {

unsigned read(const unsigned* at) {
  unsigned value = 0;
  OK(cudaMemcpy(&value, at, 4, kDeviceToHost));
  return value;
}

int add() {
  constexpr int n = 1000;
  std::vector<float> a(n), b(n), c(n);
  std::iota(a.begin(), a.end(), 0.0f);
  std::iota(b.begin(), b.end(), 7.0f);
  float *da = device<float>(n), *db = device<float>(n), *dc = device<float>(n);
  OK(cudaMemcpy(da, a.data(), n * 4, kHostToDevice));
  OK(cudaMemcpy(db, b.data(), n * 4, kDefault));
  int count = n;
  void* arguments[] = {&dc, &da, &db, &count};
  OK(cudaLaunchKernel(&add_stub, {4}, {256}, arguments, 0, nullptr));
  OK(cudaMemcpy(c.data(), dc, n * 4, kDeviceToHost));
  for (int i = 0; i < n; ++i) HOLDS(c[i] == 2.0f * float(i) + 7);
  OK(cudaFree(da));
  GIVES(1, cudaFree(da));
  GIVES(1, cudaGetLastError());
  OK(cudaGetLastError());
  std::printf("PASS\n");
  return 0;
}

int symbols() {
  const int table[4] = {3, 0, 0, 0};
  OK(cudaMemcpyToSymbol(&table_host, table, sizeof table, 0, kHostToDevice));
  for (int i = 0; i < 2; ++i) OK(count_up());
  int counter = 0;
  OK(cudaMemcpyFromSymbol(&counter, &counter_host, 4, 0, kDeviceToHost));
  HOLDS(counter == 5 + 2 * 3);
  GIVES(1, cudaMemcpyToSymbol(&table_host, table, 16, 4, kHostToDevice));
  GIVES(13, cudaMemcpyToSymbol(&counter, table, 4, 0, kHostToDevice));
  return 0;
}

/// Hints, and calls that name a device: there is one.
int devices() {
  void* address = nullptr;
  OK(cudaMallocManaged(&address, 64, 1));
  auto* managed = static_cast<char*>(address);
  OK(cudaMalloc(&address, 64));
  auto* own = static_cast<char*>(address);
  const MemoryLocation here{1, 0}, host{2, 0}, elsewhere{1, 5}, nowhere{9, 0};
  OK(cudaMemPrefetchAsync(managed, 64, here, 0, nullptr));
  OK(cudaMemPrefetchAsync(managed + 32, 32, host, 0, nullptr));
  GIVES(101, cudaMemPrefetchAsync(managed, 64, elsewhere, 0, nullptr));
  GIVES(1, cudaMemPrefetchAsync(managed, 64, nowhere, 0, nullptr));
  GIVES(1, cudaMemPrefetchAsync(managed + 32, 64, here, 0, nullptr));
  GIVES(1, cudaMemPrefetchAsync(managed, 0, here, 0, nullptr));
  GIVES(1, cudaMemPrefetchAsync(own, 64, here, 0, nullptr));
  constexpr int kReadMostly = 1, kPreferred = 3, kNoAdvice = 77;
  OK(cudaMemAdvise(managed, 64, kPreferred, here));
  OK(cudaMemAdvise(managed, 64, kReadMostly, elsewhere));  // not looked at
  GIVES(101, cudaMemAdvise(managed, 64, kPreferred, elsewhere));
  GIVES(1, cudaMemAdvise(managed, 64, kNoAdvice, here));
  GIVES(1, cudaMemAdvise(own, 64, kPreferred, here));
  OK(cudaMemcpyPeer(own, 0, own + 32, 0, 4));
  GIVES(101, cudaMemcpyPeer(own, 1, own + 32, 0, 4));
  GIVES(101, cudaMemcpyPeer(own, 0, own + 32, -1, 4));
  GIVES(101, cudaMemcpyPeerAsync(own, 0, own + 32, 7, 4, nullptr));
  int device = 5;
  OK(cudaDeviceGetByPCIBusId(&device, "0000:00:00.0"));
  HOLDS(device == 0);
  GIVES(1, cudaDeviceGetByPCIBusId(&device, "zz"));
  GIVES(101, cudaDeviceGetByPCIBusId(&device, "0000:3b:00.0"));
  OK(cudaSetDeviceFlags(4));
  GIVES(1, cudaSetDeviceFlags(0xffff));
  GIVES(1, cudaSetDeviceFlags(3));
  OK(bump(static_cast<unsigned*>(static_cast<void*>(own)), 5, 1));
  OK(cudaDeviceSynchronize());
  return 0;
}

int memory() {
  // Managed and mapped memory: one address for both.
  void* address = nullptr;
  OK(cudaMallocManaged(&address, 4, 1));
  auto* managed = static_cast<unsigned*>(address);
  *managed = 40;
  OK(bump(managed, 2, 1));
  OK(cudaDeviceSynchronize());
  HOLDS(*managed == 42);
  OK(cudaHostAlloc(&address, 4, 2));
  auto* mapped = static_cast<unsigned*>(address);
  *mapped = 1;
  OK(cudaHostGetDevicePointer(&address, mapped, 0));
  OK(bump(static_cast<unsigned*>(address), 5, 1));
  OK(cudaDeviceSynchronize());
  HOLDS(*mapped == 6);
  // Memory of the program's own.
  static unsigned own[2] = {100, 7};
  OK(cudaHostRegister(own, sizeof own, 2));
  GIVES(712, cudaHostRegister(own, 4, 0));
  OK(cudaHostGetDevicePointer(&address, &own[0], 0));
  OK(bump(static_cast<unsigned*>(address), 11, 1));
  OK(cudaDeviceSynchronize());
  HOLDS(own[0] == 111 && own[1] == 7);
  // Rows.
  std::size_t pitch = 0;
  OK(cudaMallocPitch(&address, &pitch, 12, 3));
  HOLDS(pitch >= 12);
  OK(cudaMemset(address, 0xee, pitch * 3));
  const char rows[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  char back[37] = {};
  OK(cudaMemcpy2D(address, pitch, rows, 12, 12, 3, kHostToDevice));
  OK(cudaMemcpy2D(back, 12, address, pitch, 12, 3, kDeviceToHost));
  HOLDS(std::string(back) == rows);
  GIVES(12, cudaMemcpy2D(back, 4, address, pitch, 12, 3, kDeviceToHost));
  // Out of an allocation, and the wrong way round.
  auto* small = device<unsigned>(2);
  GIVES(1, cudaMemcpy(small, rows, 16, kHostToDevice));
  GIVES(1, cudaMemcpy(small, rows, 4, kDeviceToHost));
  GIVES(21, cudaMemcpy(small, rows, 4, 17));
  GIVES(1, cudaFreeHost(small));
  GIVES(2, cudaMalloc(&address, std::size_t{1} << 45));
  // Arrays.
  Array array = nullptr;
  const Channel one{32, 0, 0, 0, 1};
  OK(cudaMalloc3DArray(&array, &one, {4, 3, 2}, 0));
  std::vector<unsigned> texels(24), texels_back(24);
  std::iota(texels.begin(), texels.end(), 0u);
  Copy3d copy{};
  copy.from = {texels.data(), 16, 4, 3};
  copy.to_array = array;
  copy.extent = {4, 3, 2};
  copy.kind = kHostToDevice;
  OK(cudaMemcpy3D(&copy));
  copy = {};
  copy.from_array = array;
  copy.to = {texels_back.data(), 16, 4, 3};
  copy.extent = {4, 3, 2};
  copy.kind = kDeviceToHost;
  OK(cudaMemcpy3D(&copy));
  HOLDS(texels == texels_back);
  copy.extent.height = 4;
  GIVES(1, cudaMemcpy3D(&copy));
  OK(cudaFreeArray(array));
  GIVES(400, cudaFreeArray(array));
  // In a stream's order.
  Stream stream = nullptr;
  Pool pool = nullptr;
  OK(cudaStreamCreate(&stream));
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  OK(cudaMallocAsync(&address, 4, stream));
  OK(cudaFreeAsync(address, stream));
  return 0;
}

int streams() {
  constexpr unsigned n = 4;
  Stream stream[n];
  Event start = nullptr, stop = nullptr;
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&stop));
  auto* values = device<unsigned>(n);
  OK(cudaMemset(values, 0, 4 * n));
  for (Stream& s : stream) OK(cudaStreamCreateWithFlags(&s, 1));
  OK(cudaEventRecord(start, stream[0]));
  for (unsigned i = 0; i < n; ++i) OK(bump(values + i, i + 1, 3000, stream[i]));
  OK(cudaEventRecord(stop, stream[n - 1]));
  OK(cudaStreamWaitEvent(stream[0], stop, 0));
  OK(bump(values, 10, 1, stream[0]));
  OK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < n; ++i) HOLDS(read(values + i) == i + 1 + (i == 0 ? 10 : 0));
  float milliseconds = -1;
  OK(cudaEventElapsedTime(&milliseconds, start, stop));
  HOLDS(milliseconds >= 0);
  std::printf("elapsed %s\n", milliseconds > 0 ? "some" : "none");
  for (Stream s : stream) OK(cudaStreamDestroy(s));
  GIVES(400, cudaStreamSynchronize(stream[0]));
  return 0;
}

int graphs() {
  auto* value = device<unsigned>(4);
  OK(cudaMemset(value, 0, 16));
  Stream origin = nullptr, side = nullptr;
  Event fork = nullptr, join = nullptr;
  OK(cudaStreamCreate(&origin));
  OK(cudaStreamCreate(&side));
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  OK(cudaStreamBeginCapture(origin, 0));
  OK(bump(value, 1, 1, origin));
  OK(cudaEventRecord(fork, origin));
  OK(cudaStreamWaitEvent(side, fork, 0));
  OK(bump(value + 1, 10, 500, side));
  OK(bump(value + 2, 100, 500, origin));
  OK(cudaEventRecord(join, side));
  OK(cudaStreamWaitEvent(origin, join, 0));
  static int calls = 0;
  OK(cudaLaunchHostFunc(
      origin, [](void* p) { ++*static_cast<int*>(p); }, &calls));
  Graph graph = nullptr;
  OK(cudaStreamEndCapture(origin, &graph));
  HOLDS(read(value) == 0 && calls == 0);
  GraphExec exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(exec, origin));
  OK(cudaStreamSynchronize(origin));
  HOLDS(read(value) == 3 && read(value + 1) == 30 && read(value + 2) == 300 && calls == 3);
  OK(cudaGraphExecDestroy(exec));
  GIVES(400, cudaGraphLaunch(exec, origin));
  // By hand: the second after the first.
  OK(cudaGraphCreate(&graph, 0));
  unsigned amount = 1000, spins = 1;
  void* arguments[] = {&value, &amount, &spins};
  const KernelNode parameters{&bump_stub, {1}, {1}, 0, arguments, nullptr};
  Node first = nullptr, second = nullptr;
  OK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &parameters));
  OK(cudaGraphAddKernelNode(&second, graph, &first, 1, &parameters));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, nullptr));
  HOLDS(read(value) == 2003);
  // Values of a fill have 1, 2 or 4 bytes: with none it would go on for ever.
  for (const unsigned bytes : {0u, 3u, 8u}) {
    const MemsetNode fill{value, 4, 7, bytes, 1, 1};
    GIVES(1, cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &fill));
  }
  // A capture whose branch does not come back.
  OK(cudaStreamBeginCapture(origin, 0));
  OK(cudaEventRecord(fork, origin));
  OK(cudaStreamWaitEvent(side, fork, 0));
  OK(bump(value, 1, 1, side));
  GIVES(904, cudaStreamEndCapture(origin, &graph));
  return 0;
}

/// The parameters of kernel nodes that were made and captured, asked for and set.
int node_parameters() {
  auto* value = device<unsigned>(1);
  OK(cudaMemset(value, 0, 4));
  Graph made = nullptr, caught = nullptr;
  OK(cudaGraphCreate(&made, 0));
  unsigned amount = 5, spins = 1;
  void* arguments[] = {&value, &amount, &spins};
  const KernelNode parameters{&bump_stub, {2}, {1}, 64, arguments, nullptr};
  Node node = nullptr;
  OK(cudaGraphAddKernelNode(&node, made, nullptr, 0, &parameters));
  Stream stream = nullptr;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, 0));
  OK(cudaLaunchKernel(&bump_stub, {2}, {1}, arguments, 64, stream));
  OK(cudaStreamEndCapture(stream, &caught));
  amount = 0;  // the nodes have the values
  unsigned sum = 0;
  for (Graph graph : {made, caught}) {
    std::size_t count = 1;
    int type = -1;
    OK(cudaGraphGetNodes(graph, &node, &count));
    OK(cudaGraphNodeGetType(node, &type));
    HOLDS(count == 1 && type == 0);
    KernelNode seen{};
    OK(cudaGraphKernelNodeGetParams(node, &seen));
    HOLDS(seen.function == &bump_stub && seen.grid.x == 2 && seen.block.x == 1);
    HOLDS(seen.grid.y == 1 && seen.shared == 64 && seen.extra == nullptr);
    HOLDS(*static_cast<unsigned**>(seen.arguments[0]) == value);
    HOLDS(*static_cast<unsigned*>(seen.arguments[1]) == 5);
    seen.grid.x = 1;  // its own arguments, another shape
    OK(cudaGraphKernelNodeSetParams(node, &seen));
    OK(cudaGraphKernelNodeGetParams(node, &seen));
    HOLDS(seen.grid.x == 1 && *static_cast<unsigned*>(seen.arguments[1]) == 5);
    unsigned more = 7;
    seen.arguments[1] = &more;
    OK(cudaGraphKernelNodeSetParams(node, &seen));
    GraphExec exec = nullptr;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    sum += 7;
    HOLDS(read(value) == sum);
  }
  GIVES(1, cudaGraphKernelNodeGetParams(node, nullptr));
  GIVES(1, cudaGraphKernelNodeGetParams(nullptr, nullptr));
  const MemsetNode fill{value, 4, 7, 4, 1, 1};
  OK(cudaGraphAddMemsetNode(&node, made, nullptr, 0, &fill));
  KernelNode seen{};
  GIVES(1, cudaGraphKernelNodeGetParams(node, &seen));
  return 0;
}

/// Streams and events that are destroyed while others capture with them.
int captures() {
  auto* value = device<unsigned>(4);
  for (int mode = 0; mode < 8; ++mode) {
    OK(cudaMemset(value, 0, 16));
    Stream origin = nullptr, side = nullptr;
    Event fork = nullptr, join = nullptr;
    OK(cudaStreamCreate(&origin));
    OK(cudaStreamCreate(&side));
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    OK(cudaStreamBeginCapture(origin, 0));
    OK(cudaEventRecord(fork, origin));
    OK(cudaStreamWaitEvent(side, fork, 0));
    OK(bump(value, 1, 1, side));
    OK(cudaEventRecord(join, side));
    if ((mode & 4) == 0) OK(cudaStreamWaitEvent(origin, join, 0));
    if ((mode & 1) != 0) OK(cudaStreamDestroy(side));
    OK(bump(value + 1, 1, 1, origin));
    Graph graph = nullptr;
    if ((mode & 2) != 0) {  // who began the capture goes: nothing comes of it
      OK(cudaStreamDestroy(origin));
      if ((mode & 1) == 0) OK(bump(value + 2, 7, 1, side));
      OK(cudaDeviceSynchronize());
      HOLDS(read(value + 2) == ((mode & 1) == 0 ? 7u : 0u));
      continue;
    }
    GIVES((mode & 4) != 0 ? 904 : 0, cudaStreamEndCapture(origin, &graph));
    GIVES(907, cudaStreamWaitEvent(origin, join, 0));  // an event of a capture that has ended
    if ((mode & 4) != 0) continue;
    GraphExec exec = nullptr;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, origin));
    HOLDS(read(value) == 1 && read(value + 1) == 1);
  }
  return 0;
}

int limits() {
  auto* value = device<unsigned>(1);
  unsigned one = 1;
  void* arguments[] = {&value, &one, &one};
  GIVES(9, cudaLaunchKernel(&bump_stub, {1}, {2048}, arguments, 0, nullptr));
  GIVES(9, cudaLaunchKernel(&bump_stub, {0}, {1}, arguments, 0, nullptr));
  GIVES(1, cudaLaunchKernel(&bump_stub, {1}, {1}, arguments, 90 << 10, nullptr));
  OK(cudaFuncSetAttribute(&bump_stub, 8, 90 << 10));
  OK(cudaLaunchKernel(&bump_stub, {1}, {1}, arguments, 90 << 10, nullptr));
  GIVES(1, cudaFuncSetAttribute(&bump_stub, 8, 1 << 20));
  GIVES(720, cudaLaunchCooperativeKernel(&bump_stub, {1000000}, {1024}, arguments, 0, nullptr));
  GIVES(98, cudaLaunchKernel(&one, {1}, {1}, arguments, 0, nullptr));
  GIVES(101, cudaSetDevice(1));
  int blocks = 0, sms = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &bump_stub, 1024, 0));
  OK(cudaDeviceGetAttribute(&sms, 16, 0));
  HOLDS(blocks >= 1 && sms >= 1);
  OK(cudaDeviceSynchronize());
  std::vector<char> properties(4096, '?');
  OK(cudaGetDeviceProperties(properties.data(), 0));
  std::printf("%s\n", properties.data());
  return 0;
}

int fault() {
  auto* value = device<unsigned>(1);
  bump(value + (1 << 20), 1, 1);
  GIVES(700, cudaDeviceSynchronize());
  GIVES(700, cudaGetLastError());
  GIVES(700, cudaMemset(value, 0, 4));  // it stays
  return 0;
}

/// Accesses beside allocations in a page that is mapped, as GPUs let pass.
int stray() {
  auto* value = device<unsigned>(64);
  OK(bump(value - 64, 1, 1));
  OK(bump(value + 1000, 1, 1));
  OK(bump(value + 1000, 1, 1));
  OK(cudaDeviceSynchronize());
  OK(bump(value, 5, 1));
  HOLDS(read(value) == 5 || read(value) == 6);
  return 0;
}

int trap() {
  cudaLaunchKernel(&stop_stub, {1}, {1}, nullptr, 0, nullptr);
  GIVES(719, cudaDeviceSynchronize());
  return 0;
}

int per_thread() {
  auto* value = device<unsigned>(2);
  OK(cudaMemset(value, 0, 8));
  unsigned amount = 3, spins = 2000;
  for (int i = 0; i < 2; ++i) {
    unsigned* at = value + i;
    void* arguments[] = {&at, &amount, &spins};
    OK(cudaLaunchKernel_ptsz(&bump_stub, {1}, {1}, arguments, 0, nullptr));
  }
  OK(cudaDeviceSynchronize());
  HOLDS(read(value) == 3 && read(value + 1) == 3);
  return 0;
}

/// The three names of the library, and a structure that is laid out three ways.
int versions() {
  int sms = 0;
  OK(cudaDeviceGetAttribute(&sms, 16, 0));
  const struct {
    const char *name, *function;
    std::size_t sms_at, bytes;
  } all[] = {{"libcudart.so.11.0", "cudaGetDeviceProperties", 388, 728},
             {"libcudart.so.12", "cudaGetDeviceProperties", 388, 728},
             {"libcudart.so.12", "cudaGetDeviceProperties_v2", 388, 1032},
             {"libcudart.so.13", "cudaGetDeviceProperties", 384, 1008}};
  for (const auto& version : all) {
    void* const library = dlopen(version.name, RTLD_NOW);
    HOLDS(library != nullptr);
    const auto call =
        reinterpret_cast<int (*)(void*, int)>(dlvsym(library, version.function, version.name));
    HOLDS(call != nullptr);
    std::vector<char> properties(4096, '?');
    OK(call(properties.data(), 0));
    int found = 0;
    std::memcpy(&found, properties.data() + version.sms_at, 4);
    HOLDS(found == sms);
    for (std::size_t i = version.bytes; i < properties.size(); ++i) HOLDS(properties[i] == '?');
    HOLDS(properties[version.bytes - 1] != '?');
  }
  HOLDS(dlvsym(dlopen("libcudart.so.13", RTLD_NOW), "cudaBindTexture", "libcudart.so.13") ==
        nullptr);
  return some_work();
}

/// More launches than a result tells one by one.
int many() {
  for (int i = 0; i < 600; ++i)
    if (some_work() != 0) return 1;
  return 0;
}

int unsupported() {
  char handle[64];
  GIVES(801, cudaIpcGetMemHandle(handle, nullptr));
  return 0;
}

/// What CUDA has, asked of functions that we have.
int lacking() {
  some_work();
  std::uint64_t zero = 0;
  void* arguments[] = {&zero, &zero, &zero};
  GIVES(801, cudaLaunchKernel(&bump_stub, {65536, 65535, 2}, {1}, arguments, 0, nullptr));
  Array array = nullptr;
  const Channel compressed{8, 8, 8, 8, 17}, plain{32, 0, 0, 0, 2};
  GIVES(801, cudaMalloc3DArray(&array, &compressed, {64, 64, 0}, 0));
  GIVES(801, cudaMalloc3DArray(&array, &plain, {64, 64, 0}, 0x40));
  GIVES(1, cudaMalloc3DArray(&array, &plain, {64, 64, 0}, 0x400));
  return 0;
}

/// A program that does not look at what its launches return.
int refused() {
  std::uint64_t zero = 0;
  void* arguments[] = {&zero, &zero, &zero};
  cudaLaunchKernel(&bump_stub, {1}, {2048}, arguments, 0, nullptr);
  cudaLaunchKernel(&bump_stub, {0}, {1}, arguments, 0, nullptr);
  return 0;
}

int odd() {
  const int code = cudaLaunchKernel(&odd_stub, {1}, {1}, nullptr, 0, nullptr);
  HOLDS(code == 218 || code == 222);
  some_work();  // the other module is not hurt
  return 0;
}

int sass() {
  GIVES(209, cudaLaunchKernel(&sass_stub, {1}, {1}, nullptr, 0, nullptr));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, int (*)()> scenarios = {
      {"add", add},
      {"symbols", symbols},
      {"devices", devices},
      {"memory", memory},
      {"streams", streams},
      {"graphs", graphs},
      {"captures", captures},
      {"node_parameters", node_parameters},
      {"refused", refused},
      {"prohibited", prohibited_in_captures},
      {"capture_threads", captures_of_threads},
      {"external_events", external_events},
      {"stray", stray},
      {"limits", limits},
      {"nothing_given", nothing_given},
      {"fault", fault},
      {"trap", trap},
      {"fork", forks},
      {"child", child_does_it},
      {"both", both},
      {"replaced", replaced},
      {"child_exits_at_once", child_exits_at_once},
      {"per_thread", per_thread},
      {"versions", versions},
      {"many", many},
      {"idle", [] { return device<unsigned>(1) != nullptr ? 0 : 1; }},
      {"unsupported", unsupported},
      {"lacking", lacking},
      {"fork_and_exit", fork_and_exit},
      {"outlived_by_child", outlived_by_child},
      {"closes_descriptors", closes_descriptors},
      {"opens_no_files", opens_no_files},
      {"kernel_at_exit", kernel_at_exit},
      {"odd", odd},
      {"sass", sass},
      {"work", some_work},
      {"nothing", [] { return 0; }},
      {"status", [] { return some_work() + 3; }},
      {"abort",
       []() -> int {
         some_work();
         std::abort();
       }},
      {"crash",
       []() -> int {
         some_work();
         raise(11);
         return 0;
       }},
      {"exit_at_once",
       []() -> int {
         some_work();
         _exit(0);
       }},
  };
  const auto found = argc > 1 ? scenarios.find(argv[1]) : scenarios.end();
  return found == scenarios.end() ? 99 : found->second();
}
