#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern __shared__ int sm[];
__global__ void g(int*o){ auto b=cg::this_thread_block(); auto w=cg::tiled_partition<32>(b); int v=cg::reduce(w,o[threadIdx.x],cg::plus<int>()); auto t=cg::tiled_partition<4>(b); v+=cg::inclusive_scan(t,v); cg::this_grid().sync(); auto c=cg::coalesced_threads(); o[c.thread_rank()]=v; cg::memcpy_async(b,sm,o,512); cg::wait(b); o[5]=sm[threadIdx.x]; auto big=cg::tiled_partition<16>(b); o[8]=cg::exclusive_scan(big,v);}
