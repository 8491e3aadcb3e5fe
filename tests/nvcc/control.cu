// Calls of every kind, recursion, tables of functions, text and heap; control.cpp holds the
// references.
#include <cassert>
#include <cstdio>
#include <cstdlib>

// --- virtual functions ---------------------------------------------------------------------------
struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual float scaled(float by) const { return by * area(); }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float a;
  __device__ explicit Square(float side) : a(side) {}
  __device__ float area() const override { return a * a; }
};
struct Rectangle : Shape {
  float a, b;
  __device__ Rectangle(float x, float y) : a(x), b(y) {}
  __device__ float area() const override { return a * b; }
  __device__ float scaled(float by) const override { return 10.0f * by + area(); }
};
struct Triangle : Rectangle {
  __device__ Triangle(float x, float y) : Rectangle(x, y) {}
  __device__ float area() const override { return 0.5f * a * b; }
};
extern "C" __global__ void make_shapes(Shape** shapes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  switch (i % 3) {
    case 0:
      shapes[i] = new Square(i);
      break;
    case 1:
      shapes[i] = new Rectangle(i, 2);
      break;
    default:
      shapes[i] = new Triangle(i, 3);
  }
}
extern "C" __global__ void measure_shapes(Shape** shapes, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = shapes[i]->area() + shapes[i]->scaled(2.0f);
}
extern "C" __global__ void free_shapes(Shape** shapes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) delete shapes[i];
}

// --- function pointers ---------------------------------------------------------------------------
typedef int (*Operation)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ __noinline__ int larger(int a, int b) { return a > b ? a : b; }
__device__ Operation table[4] = {add, subtract, multiply, larger};
__constant__ Operation constant_table[2] = {multiply, add};
__device__ Operation chosen = subtract;
struct Named {
  const char* name;
  Operation operation;
  int number;
};
__device__ Named named[2] = {{"larger", larger, 7}, {"add", add, 9}};

extern "C" __global__ void call_table(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Named& entry = named[i & 1];
  out[i] = table[i % 4](i, 5) + 1000 * constant_table[i / 2 % 2](i, 3) + chosen(0, 1) +
           entry.operation(entry.number, i) + entry.name[0];
}
extern "C" __global__ void store_pointer(Operation* to, int which) { *to = table[which]; }
extern "C" __global__ void call_pointer(const Operation* from, int* out) {
  out[threadIdx.x] = (*from)(threadIdx.x, 4);
}

// --- recursion -----------------------------------------------------------------------------------
__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}
/// Sorts through a local array at each level.
__device__ __noinline__ void merge_sort(int* values, int n) {
  if (n < 2) return;
  int copy[32];
  const int half = n / 2;
  merge_sort(values, half);
  merge_sort(values + half, n - half);
  for (int i = 0; i < n; ++i) copy[i] = values[i];
  int a = 0, b = half;
  for (int i = 0; i < n; ++i)
    values[i] = b >= n || (a < half && copy[a] <= copy[b]) ? copy[a++] : copy[b++];
}
__device__ __noinline__ int bottomless(int n) { return n == -1 ? 0 : 1 + bottomless(n + 1) * 3; }
extern "C" __global__ void recurse(int* out) {
  const int i = threadIdx.x;
  out[2 * i] = fibonacci(i % 12);
  out[2 * i + 1] = static_cast<int>(ackermann(i % 3, i % 5));
}
extern "C" __global__ void sort_each(int* values, int each) {
  int mine[32];
  int* const from = values + (blockIdx.x * blockDim.x + threadIdx.x) * each;
  for (int i = 0; i < each; ++i) mine[i] = from[i];
  merge_sort(mine, each);
  for (int i = 0; i < each; ++i) from[i] = mine[i];
}
__device__ __noinline__ unsigned descend(unsigned n) { return n == 0 ? 1 : n + descend(n - 1) * 3; }
extern "C" __global__ void deep(unsigned* out, unsigned n) { *out = descend(n); }
extern "C" __global__ void fall(int* out) { *out = bottomless(1); }

/// Stack of a size known only at run time, at each level of a recursion.
__device__ __noinline__ int spread(int n) {
  if (n <= 0) return 1;
  int* a = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) a[i] = i * i + n;
  const int below = spread(n - 2);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum = 3 * sum + a[n - 1 - i];
  return sum + 7 * below;
}
extern "C" __global__ void allocate_stack(int* out) { out[threadIdx.x] = spread(threadIdx.x % 9); }

// --- a switch that becomes a jump table ----------------------------------------------------------
extern "C" __global__ void machine(const unsigned char* code, int length, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int a = i, b = 1;
  for (int at = 0; at < length; ++at) switch (code[(at + i) % length]) {
      case 0: a += b; break;
      case 1: a -= 3; break;
      case 2: b = a ^ b; break;
      case 3: a *= 5; break;
      case 4: b += 7; break;
      case 5: a = b - a; break;
      case 6: if (a & 1) ++at; break;
      case 7: a = __popc(a) + b; break;
      case 8: b = a >> 2; break;
      default: a = ~a;
    }
  out[i] = a * 31 + b;
}

// --- text ----------------------------------------------------------------------------------------
extern "C" __global__ void print(const char* word) {
  printf("plain\n");
  printf("%d %i %u %o %x %X %c %%|\n", -5, 42, 4000000000u, 64, 0xbeef, 0xBEEF, 'z');
  printf("[%5d] [%-5d] [%05d] [%+d] [% d] [%.3d] [%*d]\n", 12, 12, 12, 12, 12, 7, 6, 99);
  printf("%ld %lld %llu %lx %hd %hhd\n", -1234567890123L, -7LL, 18446744073709551615ULL, 255L,
         (short)70000, (char)300);
  printf("%f %.2f %8.3f %e %.1e %g %G %a\n", 3.25, 2.718281828, -1.5, 12345.678, 0.00012, 1e-7, 1e20,
         1.0);
  printf("%s %10s|%-10s|%.2s\n", word, "right", "left", "cut");
  printf("%d %f %s %d\n", 1, 2.0f, "mixed", 3);
  printf("no arguments\n");
}
extern "C" __global__ void print_returns(int* out) {
  out[0] = printf("abc %d\n", 5);
  out[1] = printf("none\n");
}
extern "C" __global__ void check(const int* values, int limit) {
  assert(values[threadIdx.x] < limit);
}

// --- heap ----------------------------------------------------------------------------------------
struct Node {
  int value;
  Node* next;
};
/// A list of `n` nodes per thread, kept in `heads` for the next kernel.
extern "C" __global__ void build_lists(Node** heads, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Node* head = nullptr;
  for (int k = 0; k <= i % n; ++k) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->value = i + k;
    node->next = head;
    head = node;
  }
  heads[i] = head;
}
extern "C" __global__ void sum_lists(Node** heads, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (Node* node = heads[i]; node != nullptr;) {
    sum = 3 * sum + node->value;
    Node* next = node->next;
    free(node);
    node = next;
  }
  out[i] = sum;
}
extern "C" __global__ void exhaust(int* out, size_t bytes) {
  int n = 0;
  while (malloc(bytes) != nullptr) ++n;
  *out = n;
}
extern "C" __global__ void free_twice() {
  void* p = malloc(16);
  free(p);
  free(p);
}
extern "C" __global__ void beyond_malloc() {
  int* p = static_cast<int*>(malloc(16));
  p[4] = 1;
}
/// A block shares what one thread allocates.
extern "C" __global__ void block_scratch(int* out) {
  __shared__ int* scratch;
  if (threadIdx.x == 0) scratch = new int[blockDim.x];
  __syncthreads();
  scratch[threadIdx.x] = threadIdx.x * 2;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = scratch[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) delete[] scratch;
}
