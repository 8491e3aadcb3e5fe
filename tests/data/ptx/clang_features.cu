// Compiled by clang-19 without CUDA headers.
#define G __attribute__((global))
#define D __attribute__((device))
#define S __attribute__((shared))
#define C __attribute__((constant))
typedef unsigned long long u64;
struct Big { double d[5]; int i; char c[3]; };
struct Node { Node* next; const char* name; int value; };
D int counter = 3;
D Node last = {nullptr, "last", 9};
D Node first = {&last, "first", -1};
struct __attribute__((packed)) Odd { char c; int* p; short s; };
D Odd odd = {'a', &counter + 1, 0x1234};
C float weights[2][3] = {{1, 2.5f, -3}, {0.1f, 0, 1e-30f}};
D double constants[] = {3.25, -0.0, 1e308};
extern S float dynamic[];
S int fixed[64];
D __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
D __attribute__((noinline)) Big twist(Big b, int k) { for (int i = 0; i < 5; ++i) b.d[i] *= k; b.i += k; return b; }
typedef int (*Op)(int);
D int inc(int x) { return x + 1; }
D Op table[] = {inc, fib};
G void calls(int* out, Big big, int n) {
  big = twist(big, n);
  out[0] = table[n & 1](n) + big.i + (int)big.d[n % 5] + counter;
  const Node* at = &first;
  while (at) { out[1] += at->value + at->name[0]; at = at->next; }
  out[2] = odd.s + *odd.p + (int)weights[n & 1][n % 3] + (int)constants[n % 3];
}
G void choose(int* out, int n) {
  unsigned t = __nvvm_read_ptx_sreg_tid_x();
  int v = out[t];
  switch (n) {
    case 0: v += 3; break; case 1: v *= out[1]; break; case 2: v ^= out[2]; break; case 3: v = v / out[3]; break;
    case 4: v = __builtin_popcount(v); break; case 5: v -= out[4]; break; case 6: v = __nvvm_atom_add_gen_i(out, v); break;
    case 7: v = __nvvm_shfl_sync_bfly_i32(-1, v, 3, 31); break; case 8: v = __nvvm_vote_ballot_sync(-1, v); break;
    default: return;
  }
  fixed[t & 63] = v; dynamic[t] = v * 0.5f;
  __syncthreads();
  out[t] = fixed[(t + 1) & 63] + (int)dynamic[t ^ 1];
}
G void __attribute__((launch_bounds(128, 2))) math(float* f, double* d, u64* u, float* __restrict__ r) {
  unsigned t = __nvvm_read_ptx_sreg_tid_x() + __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
  float local[16];
  for (int i = 0; i < 16; ++i) local[i] = r[i] * i;
  f[t] = __builtin_sqrtf(f[t]) / r[t] + __nvvm_ex2_approx_f(r[t]) + local[t & 15] + __builtin_fmaf(f[1], r[1], 2.0f);
  d[t] = d[t] * 3.7 / d[0] + __builtin_sqrt(d[1]) + (double)f[0];
  u[t] = u[t] / u[1] + u[t] % 10 + ((__uint128_t)u[2] * u[3] >> 64) + __nvvm_read_ptx_sreg_clock64();
  __attribute__((vector_size(16))) float v = *(__attribute__((vector_size(16))) float*)(f + 4 * t);
  *(__attribute__((vector_size(16))) float*)(r + 4 * t) = v + v;
}
G void spin(volatile int* flag) { while (flag[0] == 0) {} for (;;) flag[1] = 1; }
