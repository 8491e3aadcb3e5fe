// Names, types and words of the metrics. Written by ./x verify from src/raddle/stats/metrics.def and terms.h: no edits
// here.

export interface Words {
  title: string;
  unit: string;
  meaning: string;
}

export interface Term {
  title: string;
  explain: string;
}

/** Numbers that the totals and every launch, kernel, stream and tenant have (result JSON, schema 1). */
export interface Metrics {
  /** cycles: core-clock cycles of a run; of a launch from when nothing held it back to its end, launch latency included; of a stream those with a launch under way; of a tenant those measured */
  cycles: number;
  /** warp instructions: instructions issued, each once for a warp; of the machine's code, or of PTX where it is not lowered */
  warp_instructions: number;
  /** thread instructions: instructions issued, each once for every lane that takes part */
  thread_instructions: number;
  /** thread instructions/cycle: thread instructions issued per core cycle by the whole GPU; a warp instruction of 32 active threads counts 32 */
  ipc: number;
  /** line accesses: accesses of loads to the L1D, one for each line that a warp's load touches */
  l1d_accesses: number;
  /** line accesses: line accesses of loads to the L1D that found their data; one that joined a miss under way is no hit */
  l1d_hits: number;
  /** ratio: share of the L1D's line accesses by loads that found their data; loads that joined a miss under way count as no hit */
  l1d_hit_rate: number;
  /** misses/1000 thread instructions: misses of loads in the L1D per thousand thread instructions: how often the work has to wait for memory beyond the SM */
  l1d_mpki: number;
  /** requests: requests that the slices of the L2 have looked up: reads, writes and atomics */
  l2_accesses: number;
  /** requests: requests for which the L2 had everything */
  l2_hits: number;
  /** ratio: share of the L2's requests (reads, writes, atomics) that found everything there; what misses goes to DRAM */
  l2_hit_rate: number;
  /** requests: requests to DRAM that read */
  dram_reads: number;
  /** requests: requests to DRAM that write */
  dram_writes: number;
  /** bytes: bytes read from and written to DRAM, in whole bursts */
  dram_bytes: number;
  /** bytes: bytes of all packets between SMs and L2, and on a mesh between L2 and memory controllers: headers and data, without the padding of last flits */
  noc_bytes: number;
  /** flit-hops: flits times the links between routers that each has crossed; 1 in a crossbar */
  noc_flit_hops: number;
}

/** Numbers that launches and kernels have, too. */
export interface Execution {
  /** cycles: core-clock cycles from the start of the first block to the end of the last one */
  execution_cycles: number;
  /** thread instructions/cycle: thread instructions per cycle between the start of the first block and the end of the last one */
  execution_ipc: number;
}

/** By name in the result, without what it is a member of. */
export const kWords: { [name: string]: Words } = {
  "cycles": { title: "Cycles", unit: "cycles", meaning: "Core-clock cycles of a run; of a launch from when nothing held it back to its end, launch latency included; of a stream those with a launch under way; of a tenant those measured." },
  "warp_instructions": { title: "Warp instructions", unit: "warp instructions", meaning: "Instructions issued, each once for a warp; of the machine's code, or of PTX where it is not lowered." },
  "thread_instructions": { title: "Thread instructions", unit: "thread instructions", meaning: "Instructions issued, each once for every lane that takes part." },
  "ipc": { title: "IPC", unit: "thread instructions/cycle", meaning: "Thread instructions issued per core cycle by the whole GPU; a warp instruction of 32 active threads counts 32." },
  "l1d_accesses": { title: "L1D accesses", unit: "line accesses", meaning: "Accesses of loads to the L1D, one for each line that a warp's load touches." },
  "l1d_hits": { title: "L1D hits", unit: "line accesses", meaning: "Line accesses of loads to the L1D that found their data; one that joined a miss under way is no hit." },
  "l1d_hit_rate": { title: "L1D hit rate", unit: "ratio", meaning: "Share of the L1D's line accesses by loads that found their data; loads that joined a miss under way count as no hit." },
  "l1d_mpki": { title: "L1D MPKI", unit: "misses/1000 thread instructions", meaning: "Misses of loads in the L1D per thousand thread instructions: how often the work has to wait for memory beyond the SM." },
  "l2_accesses": { title: "L2 accesses", unit: "requests", meaning: "Requests that the slices of the L2 have looked up: reads, writes and atomics." },
  "l2_hits": { title: "L2 hits", unit: "requests", meaning: "Requests for which the L2 had everything." },
  "l2_hit_rate": { title: "L2 hit rate", unit: "ratio", meaning: "Share of the L2's requests (reads, writes, atomics) that found everything there; what misses goes to DRAM." },
  "dram_reads": { title: "DRAM reads", unit: "requests", meaning: "Requests to DRAM that read." },
  "dram_writes": { title: "DRAM writes", unit: "requests", meaning: "Requests to DRAM that write." },
  "dram_bytes": { title: "DRAM bytes", unit: "bytes", meaning: "Bytes read from and written to DRAM, in whole bursts." },
  "noc_bytes": { title: "NoC bytes", unit: "bytes", meaning: "Bytes of all packets between SMs and L2, and on a mesh between L2 and memory controllers: headers and data, without the padding of last flits." },
  "noc_flit_hops": { title: "NoC flit hops", unit: "flit-hops", meaning: "Flits times the links between routers that each has crossed; 1 in a crossbar." },
  "execution_cycles": { title: "Execution cycles", unit: "cycles", meaning: "Core-clock cycles from the start of the first block to the end of the last one." },
  "execution_ipc": { title: "Execution IPC", unit: "thread instructions/cycle", meaning: "Thread instructions per cycle between the start of the first block and the end of the last one." },
  "details.l1d_pending_hits": { title: "L1D pending hits", unit: "line accesses", meaning: "Accesses of loads whose line was already on its way to the L1D." },
  "details.l1d_misses": { title: "L1D misses", unit: "line accesses", meaning: "Accesses of loads that the L1D had to ask for." },
  "details.l1d_stores": { title: "L1D stores", unit: "line accesses", meaning: "Accesses of stores to the L1D, one for each line that a warp's store touches." },
  "details.l1d_evictions": { title: "L1D evictions", unit: "lines", meaning: "Lines that lost their way in the L1D to others." },
  "details.l1d_reservation_fails": { title: "L1D reservation fails", unit: "cycles", meaning: "Cycles for which the oldest memory instruction of an SM was refused by the L1D or the queue behind it." },
  "details.l1d_refused.mshr": { title: "MSHR", unit: "cycles", meaning: "Cycles for which the oldest memory instruction was refused: no MSHR was free." },
  "details.l1d_refused.merge": { title: "Merge", unit: "cycles", meaning: "Cycles for which the oldest memory instruction was refused: an MSHR held as many accesses as it can." },
  "details.l1d_refused.way": { title: "Way", unit: "cycles", meaning: "Cycles for which the oldest memory instruction was refused: every way of the set waited for its data." },
  "details.l1d_refused.miss_queue": { title: "Miss queue", unit: "cycles", meaning: "Cycles for which the oldest memory instruction was refused: the queue to the network was full." },
  "details.l1d_refused.store_buffer": { title: "Store buffer", unit: "cycles", meaning: "Cycles for which the oldest memory instruction was refused: the store buffer was full." },
  "details.l1d_refused.write_back": { title: "Write back", unit: "cycles", meaning: "Cycles for which the oldest memory instruction was refused: the line was on its way to the L2." },
  "details.l1d_mean_miss_cycles": { title: "L1D mean miss cycles", unit: "cycles", meaning: "Mean time from a miss of the L1D to its fill." },
  "details.l1d_store_misses": { title: "L1D store misses", unit: "line accesses", meaning: "Accesses of stores for which the L1D fetched a line." },
  "details.l1d_write_backs": { title: "L1D write backs", unit: "lines", meaning: "Dirty lines that left the L1D." },
  "details.stores_combined": { title: "Stores combined", unit: "line accesses", meaning: "Accesses of stores that joined an earlier one in the store buffer." },
  "details.loads": { title: "Loads", unit: "warp instructions", meaning: "Loads of global and local memory that are complete, atomics that return a value included." },
  "details.load_mean_cycles": { title: "Load mean cycles", unit: "cycles", meaning: "Mean time of a load from issue to write-back, the sum of the four parts that follow." },
  "details.load_mean_lsu_cycles": { title: "Load mean LSU cycles", unit: "cycles", meaning: "Mean time of a load until the L1D has taken its last line." },
  "details.load_mean_hit_cycles": { title: "Load mean hit cycles", unit: "cycles", meaning: "Mean time of a load from its last line in the L1D to its last data, where a hit was the last to come." },
  "details.load_mean_queue_cycles": { title: "Load mean queue cycles", unit: "cycles", meaning: "Mean time of a load from its last line in the L1D until its last request has left the SM, where a miss was the last to come." },
  "details.load_mean_outside_cycles": { title: "Load mean outside cycles", unit: "cycles", meaning: "Mean time of a load from its last request, when that has left the SM, to its last data." },
  "details.const_accesses": { title: "Constant accesses", unit: "accesses", meaning: "Accesses to the constant cache, one for each distinct address." },
  "details.const_misses": { title: "Constant misses", unit: "accesses", meaning: "Accesses to the constant cache that had to be fetched." },
  "details.request_token_wait_cycles": { title: "Request token wait cycles", unit: "SM-cycles", meaning: "SM-cycles in which the oldest request of its tenant had no token to leave with; 0 without a scheme that limits requests." },
  "details.starved_token_intervals": { title: "Starved token intervals", unit: "intervals", meaning: "Intervals of tokens, over all SMs, in which a request waited for one." },
  "details.atomics": { title: "Atomics", unit: "line accesses", meaning: "Accesses of atomics and reductions to global memory, one for each line." },
  "details.served_l1": { title: "Served L1", unit: "line accesses", meaning: "Line accesses of loads and atomics whose last data came from: the L1." },
  "details.served_remote_l1": { title: "Served remote L1", unit: "line accesses", meaning: "Line accesses of loads and atomics whose last data came from: another L1." },
  "details.served_l2": { title: "Served L2", unit: "line accesses", meaning: "Line accesses of loads and atomics whose last data came from: the L2." },
  "details.served_memory": { title: "Served memory", unit: "line accesses", meaning: "Line accesses of loads and atomics whose last data came from: DRAM." },
  "details.shared_accesses": { title: "Shared accesses", unit: "warp instructions", meaning: "Accesses of warps to shared memory." },
  "details.shared_passes": { title: "Shared passes", unit: "bank cycles", meaning: "Cycles that accesses to shared memory hold its banks; more than one each where lanes conflict." },
  "details.l2_pending_hits": { title: "L2 pending hits", unit: "requests", meaning: "Requests whose sectors were already on their way to the L2." },
  "details.l2_misses": { title: "L2 misses", unit: "requests", meaning: "Requests for which the L2 asked DRAM for sectors, and writes whose line was absent." },
  "details.l2_write_backs": { title: "L2 write backs", unit: "requests", meaning: "Dirty lines that the L2 wrote to DRAM." },
  "details.l2_crossings": { title: "L2 crossings", unit: "sectors", meaning: "Sectors that crossed to or from the SMs at the L2's other half." },
  "details.dram_written_bytes": { title: "DRAM written bytes", unit: "bytes", meaning: "Bytes written to DRAM, in whole bursts." },
  "details.dram_row_hit_rate": { title: "DRAM row hit rate", unit: "ratio", meaning: "Share of DRAM's requests for which no row had to be opened." },
  "details.dram_mean_queue_cycles": { title: "DRAM mean queue cycles", unit: "memory cycles", meaning: "Mean time of a DRAM request from arrival to its first column command; in core cycles with dram.model = fixed." },
  "details.blocks": { title: "Blocks", unit: "blocks", meaning: "Thread blocks that have run." },
  "details.busy_cycles": { title: "Busy cycles", unit: "cycles", meaning: "Core-clock cycles in which a block was on an SM." },
  "details.warp_cycles": { title: "Warp cycles", unit: "warp-cycles", meaning: "Cycles times the warps that have not issued their last instruction." },
  "details.throttled_warp_cycles": { title: "Throttled warp cycles", unit: "warp-cycles", meaning: "Cycles times the warps that a throttle policy did not let issue, or load." },
  "details.tail_cycles": { title: "Tail cycles", unit: "SM-cycles", meaning: "SM-cycles from the end of an SM's last block to the end of the last block of the same launch of the host." },
  "details.l1d_most_mshrs": { title: "L1D most MSHRs", unit: "MSHRs", meaning: "Most MSHRs of one L1D that were taken at a time when it missed." },
  "details.l2_mean_queue_cycles": { title: "L2 mean queue cycles", unit: "cycles", meaning: "Mean time of a request in its slice of the L2 until it was looked up." },
  "details.l2_mean_miss_cycles": { title: "L2 mean miss cycles", unit: "cycles", meaning: "Mean time of a request that found not everything in the L2 for its line." },
  "details.noc.request.read.packets": { title: "Packets", unit: "packets", meaning: "Packets delivered." },
  "details.noc.request.read.flits": { title: "Flits", unit: "flits", meaning: "Flits of these packets." },
  "details.noc.request.read.bytes": { title: "Bytes", unit: "bytes", meaning: "Header and data of these packets, without the padding of their last flits." },
  "details.noc.request.read.flit_hops": { title: "Flit hops", unit: "flit-hops", meaning: "Flits times the links between routers that each has crossed; 1 in a crossbar." },
  "details.noc.request.write.packets": { title: "Packets", unit: "packets", meaning: "Packets delivered." },
  "details.noc.request.write.flits": { title: "Flits", unit: "flits", meaning: "Flits of these packets." },
  "details.noc.request.write.bytes": { title: "Bytes", unit: "bytes", meaning: "Header and data of these packets, without the padding of their last flits." },
  "details.noc.request.write.flit_hops": { title: "Flit hops", unit: "flit-hops", meaning: "Flits times the links between routers that each has crossed; 1 in a crossbar." },
  "details.noc.request.atomic.packets": { title: "Packets", unit: "packets", meaning: "Packets delivered." },
  "details.noc.request.atomic.flits": { title: "Flits", unit: "flits", meaning: "Flits of these packets." },
  "details.noc.request.atomic.bytes": { title: "Bytes", unit: "bytes", meaning: "Header and data of these packets, without the padding of their last flits." },
  "details.noc.request.atomic.flit_hops": { title: "Flit hops", unit: "flit-hops", meaning: "Flits times the links between routers that each has crossed; 1 in a crossbar." },
  "details.noc.request.reduce.packets": { title: "Packets", unit: "packets", meaning: "Packets delivered." },
  "details.noc.request.reduce.flits": { title: "Flits", unit: "flits", meaning: "Flits of these packets." },
  "details.noc.request.reduce.bytes": { title: "Bytes", unit: "bytes", meaning: "Header and data of these packets, without the padding of their last flits." },
  "details.noc.request.reduce.flit_hops": { title: "Flit hops", unit: "flit-hops", meaning: "Flits times the links between routers that each has crossed; 1 in a crossbar." },
  "details.noc.request.write_back.packets": { title: "Packets", unit: "packets", meaning: "Packets delivered." },
  "details.noc.request.write_back.flits": { title: "Flits", unit: "flits", meaning: "Flits of these packets." },
  "details.noc.request.write_back.bytes": { title: "Bytes", unit: "bytes", meaning: "Header and data of these packets, without the padding of their last flits." },
  "details.noc.request.write_back.flit_hops": { title: "Flit hops", unit: "flit-hops", meaning: "Flits times the links between routers that each has crossed; 1 in a crossbar." },
  "details.noc.request.ports": { title: "Ports", unit: "ports", meaning: "Ports that take packets from the network." },
  "details.noc.request.busiest_port_flits": { title: "Busiest port flits", unit: "flits", meaning: "Flits of the port that has had most." },
  "details.noc.request.blocked_credit_cycles": { title: "Blocked credit cycles", unit: "network cycles", meaning: "Cycles, over all ports, for which a packet (mesh: a flit) waited for a credit." },
  "details.noc.request.blocked_arbitration_cycles": { title: "Blocked arbitration cycles", unit: "network cycles", meaning: "Cycles, over all ports, for which a packet (mesh: a flit) lost against others." },
  "details.noc.reply.read.packets": { title: "Packets", unit: "packets", meaning: "Packets delivered." },
  "details.noc.reply.read.flits": { title: "Flits", unit: "flits", meaning: "Flits of these packets." },
  "details.noc.reply.read.bytes": { title: "Bytes", unit: "bytes", meaning: "Header and data of these packets, without the padding of their last flits." },
  "details.noc.reply.read.flit_hops": { title: "Flit hops", unit: "flit-hops", meaning: "Flits times the links between routers that each has crossed; 1 in a crossbar." },
  "details.noc.reply.write.packets": { title: "Packets", unit: "packets", meaning: "Packets delivered." },
  "details.noc.reply.write.flits": { title: "Flits", unit: "flits", meaning: "Flits of these packets." },
  "details.noc.reply.write.bytes": { title: "Bytes", unit: "bytes", meaning: "Header and data of these packets, without the padding of their last flits." },
  "details.noc.reply.write.flit_hops": { title: "Flit hops", unit: "flit-hops", meaning: "Flits times the links between routers that each has crossed; 1 in a crossbar." },
  "details.noc.reply.atomic.packets": { title: "Packets", unit: "packets", meaning: "Packets delivered." },
  "details.noc.reply.atomic.flits": { title: "Flits", unit: "flits", meaning: "Flits of these packets." },
  "details.noc.reply.atomic.bytes": { title: "Bytes", unit: "bytes", meaning: "Header and data of these packets, without the padding of their last flits." },
  "details.noc.reply.atomic.flit_hops": { title: "Flit hops", unit: "flit-hops", meaning: "Flits times the links between routers that each has crossed; 1 in a crossbar." },
  "details.noc.reply.reduce.packets": { title: "Packets", unit: "packets", meaning: "Packets delivered." },
  "details.noc.reply.reduce.flits": { title: "Flits", unit: "flits", meaning: "Flits of these packets." },
  "details.noc.reply.reduce.bytes": { title: "Bytes", unit: "bytes", meaning: "Header and data of these packets, without the padding of their last flits." },
  "details.noc.reply.reduce.flit_hops": { title: "Flit hops", unit: "flit-hops", meaning: "Flits times the links between routers that each has crossed; 1 in a crossbar." },
  "details.noc.reply.write_back.packets": { title: "Packets", unit: "packets", meaning: "Packets delivered." },
  "details.noc.reply.write_back.flits": { title: "Flits", unit: "flits", meaning: "Flits of these packets." },
  "details.noc.reply.write_back.bytes": { title: "Bytes", unit: "bytes", meaning: "Header and data of these packets, without the padding of their last flits." },
  "details.noc.reply.write_back.flit_hops": { title: "Flit hops", unit: "flit-hops", meaning: "Flits times the links between routers that each has crossed; 1 in a crossbar." },
  "details.noc.reply.ports": { title: "Ports", unit: "ports", meaning: "Ports that take packets from the network." },
  "details.noc.reply.busiest_port_flits": { title: "Busiest port flits", unit: "flits", meaning: "Flits of the port that has had most." },
  "details.noc.reply.blocked_credit_cycles": { title: "Blocked credit cycles", unit: "network cycles", meaning: "Cycles, over all ports, for which a packet (mesh: a flit) waited for a credit." },
  "details.noc.reply.blocked_arbitration_cycles": { title: "Blocked arbitration cycles", unit: "network cycles", meaning: "Cycles, over all ports, for which a packet (mesh: a flit) lost against others." },
  "details.noc.memory.packets": { title: "Packets", unit: "packets", meaning: "Packets delivered." },
  "details.noc.memory.flits": { title: "Flits", unit: "flits", meaning: "Flits of these packets." },
  "details.noc.memory.bytes": { title: "Bytes", unit: "bytes", meaning: "Header and data of these packets, without the padding of their last flits." },
  "details.noc.memory.flit_hops": { title: "Flit hops", unit: "flit-hops", meaning: "Flits times the links between routers that each has crossed; 1 in a crossbar." },
  "stalls.issued": { title: "Issued", unit: "scheduler-cycles", meaning: "Scheduler-cycles: the scheduler issued a warp instruction." },
  "stalls.barrier": { title: "Barrier", unit: "scheduler-cycles", meaning: "Scheduler-cycles for which one of its warps was the nearest to ready: all resident warps wait for others of their block at a barrier." },
  "stalls.memory": { title: "Memory", unit: "scheduler-cycles", meaning: "Scheduler-cycles for which one of its warps was the nearest to ready: every warp that could be next waits for data on its way from memory (caches or DRAM)." },
  "stalls.dependence": { title: "Dependence", unit: "scheduler-cycles", meaning: "Scheduler-cycles for which one of its warps was the nearest to ready: the next instruction needs the result of an arithmetic instruction that is still being computed." },
  "stalls.unit": { title: "Unit", unit: "scheduler-cycles", meaning: "Scheduler-cycles for which one of its warps was the nearest to ready: operands are there, but the execution unit or the operand collectors are still taken by earlier instructions." },
  "stalls.lsu": { title: "LSU", unit: "scheduler-cycles", meaning: "Scheduler-cycles for which one of its warps was the nearest to ready: operands are there, but the load/store unit takes nothing more (its queue, miss registers or ports are full)." },
  "stalls.fence": { title: "Fence", unit: "scheduler-cycles", meaning: "Scheduler-cycles for which one of its warps was the nearest to ready: waits until earlier memory operations are visible to others." },
  "stalls.sleep": { title: "Sleep", unit: "scheduler-cycles", meaning: "Scheduler-cycles for which one of its warps was the nearest to ready: the warps sleep of their own will (nanosleep)." },
  "stalls.fetch": { title: "Fetch", unit: "scheduler-cycles", meaning: "Scheduler-cycles for which one of its warps was the nearest to ready: the next instruction is not there yet: a jump has emptied the warp's buffer, or the instruction cache missed." },
  "stalls.throttled": { title: "Throttled", unit: "scheduler-cycles", meaning: "Scheduler-cycles for which one of its warps was the nearest to ready: operands and unit are there, but the throttle policy does not let the warp issue." },
  "stalls.idle": { title: "Idle", unit: "scheduler-cycles", meaning: "Scheduler-cycles without an issue: the scheduler holds no warp, and not because a launch is on its way: other SMs still work on a launch, or the host has launched nothing." },
  "stalls.launch": { title: "Launch", unit: "scheduler-cycles", meaning: "Scheduler-cycles without an issue: no block is on any SM and a launch is on its way to one: the machine's launch latency, not the program's work." },
  "utilisation.issue": { title: "Issue", unit: "ratio", meaning: "Share of the scheduler-cycles with a block on an SM in which a warp instruction was issued." },
  "utilisation.l1": { title: "L1", unit: "ratio", meaning: "Line accesses of loads that use the L1D, of stores and of atomics against those that the load/store units could take." },
  "utilisation.shared": { title: "Shared", unit: "ratio", meaning: "Share of the cycles in which the banks of shared memory were taken." },
  "utilisation.request": { title: "Request", unit: "ratio", meaning: "Flits from SMs to the L2 against those that the ports could carry; null where nothing limits them (ideal.noc)." },
  "utilisation.reply": { title: "Reply", unit: "ratio", meaning: "Flits from the L2 to SMs against those that the ports could carry; null where nothing limits them (ideal.noc)." },
  "utilisation.l2": { title: "L2", unit: "ratio", meaning: "Requests that the slices of the L2 have looked up against those that they could." },
  "utilisation.dram": { title: "DRAM", unit: "ratio", meaning: "Bytes read from and written to DRAM against those that the channels could move; null where nothing limits them (ideal.dram)." },
  "energy_pj.front_end": { title: "Front end", unit: "pJ", meaning: "Energy: instructions fetched, decoded and scheduled." },
  "energy_pj.register_file": { title: "Register file", unit: "pJ", meaning: "Energy: operands read and written." },
  "energy_pj.lanes": { title: "Lanes", unit: "pJ", meaning: "Energy: execution units, by class of operation." },
  "energy_pj.constant": { title: "Constant", unit: "pJ", meaning: "Energy: accesses to the constant cache." },
  "energy_pj.shared": { title: "Shared", unit: "pJ", meaning: "Energy: cycles of the banks of shared memory." },
  "energy_pj.l1d": { title: "L1D", unit: "pJ", meaning: "Energy: tags and data of the L1D." },
  "energy_pj.noc": { title: "NoC", unit: "pJ", meaning: "Energy: flits through routers and links." },
  "energy_pj.l2": { title: "L2", unit: "pJ", meaning: "Energy: reads, writes and atomics of the L2." },
  "energy_pj.dram": { title: "DRAM", unit: "pJ", meaning: "Energy: bytes over the bus, rows opened and refreshes." },
  "energy_pj.static_cores": { title: "Static cores", unit: "pJ", meaning: "Energy: what SMs leak while they issue, stall or idle." },
  "energy_pj.static_l2": { title: "Static L2", unit: "pJ", meaning: "Energy: what the slices of the L2 leak." },
  "energy_pj.static_chip": { title: "Static chip", unit: "pJ", meaning: "Energy: what the rest of the chip leaks." },
  "start_cycle": { title: "Start cycle", unit: "cycles", meaning: "Cycle from which on nothing held the launch back; 0 when run without timing." },
  "begin_cycle": { title: "Begin cycle", unit: "cycles", meaning: "Cycle from which on its first block could be dispatched." },
  "first_block_cycle": { title: "First block cycle", unit: "cycles", meaning: "Cycle in which its first block started on an SM." },
  "last_block_cycle": { title: "Last block cycle", unit: "cycles", meaning: "Cycle in which its last block ended on an SM." },
  "end_cycle": { title: "End cycle", unit: "cycles", meaning: "Cycle in which the launch was known to be complete." },
  "launches": { title: "Launches", unit: "launches", meaning: "Launches of the kernel." },
  "device_launches": { title: "Device launches", unit: "launches", meaning: "Launches of the kernel that kernels made." },
  "cycles_min": { title: "Cycles min", unit: "cycles", meaning: "Cycles of the shortest launch of the kernel." },
  "cycles_mean": { title: "Cycles mean", unit: "cycles", meaning: "Mean cycles of a launch of the kernel." },
  "cycles_max": { title: "Cycles max", unit: "cycles", meaning: "Cycles of the longest launch of the kernel." },
  "schedulers": { title: "Schedulers", unit: "schedulers", meaning: "Warp schedulers of the whole GPU; times cycles, what the stalls and issued add up to." },
  "launches_refused": { title: "Launches refused", unit: "launches", meaning: "Launches by kernels that got cudaErrorLaunchPendingCountExceeded because too many were pending." },
  "peaks.issue": { title: "Issue", unit: "warp instructions/cycle", meaning: "Warp instructions that all schedulers could issue in a core cycle." },
  "peaks.l1_lines": { title: "L1 lines", unit: "line accesses/cycle", meaning: "Line accesses that all load/store units could take to the L1D in a core cycle." },
  "peaks.l1_bytes": { title: "L1 bytes", unit: "bytes/cycle", meaning: "Bytes of the lines (or sectors, as sm.l1d.coalescing says) of peaks.l1_lines." },
  "peaks.shared": { title: "Shared", unit: "bank cycles/cycle", meaning: "Cycles of the banks of shared memory of all SMs in a core cycle." },
  "peaks.request_bytes": { title: "Request bytes", unit: "bytes/cycle", meaning: "Bytes, in whole flits, that SMs could send to the L2 in a core cycle; null where nothing limits them (ideal.noc)." },
  "peaks.reply_bytes": { title: "Reply bytes", unit: "bytes/cycle", meaning: "Bytes, in whole flits, that the L2 could send to SMs in a core cycle; null where nothing limits them (ideal.noc)." },
  "peaks.l2_requests": { title: "L2 requests", unit: "requests/cycle", meaning: "Requests that all slices of the L2 could look up in a core cycle." },
  "peaks.dram_bytes": { title: "DRAM bytes", unit: "bytes/cycle", meaning: "Bytes that all channels of DRAM could move in a core cycle; null where nothing limits them (ideal.dram)." },
};

export const kIssued: Term = { title: "issued", explain: "the scheduler issued a warp instruction" };

/** Why a scheduler issued nothing. */
export const kStallTerms: { [name: string]: Term } = {
  idle: { title: "no warp", explain: "the scheduler holds no warp, and not because a launch is on its way: other SMs still work on a launch, or the host has launched nothing" },
  barrier: { title: "barrier", explain: "all resident warps wait for others of their block at a barrier" },
  memory: { title: "memory", explain: "every warp that could be next waits for data on its way from memory (caches or DRAM)" },
  dependence: { title: "dependence", explain: "the next instruction needs the result of an arithmetic instruction that is still being computed" },
  unit: { title: "unit busy", explain: "operands are there, but the execution unit or the operand collectors are still taken by earlier instructions" },
  lsu: { title: "load/store unit", explain: "operands are there, but the load/store unit takes nothing more (its queue, miss registers or ports are full)" },
  fence: { title: "fence", explain: "waits until earlier memory operations are visible to others" },
  sleep: { title: "sleep", explain: "the warps sleep of their own will (nanosleep)" },
  fetch: { title: "fetch", explain: "the next instruction is not there yet: a jump has emptied the warp's buffer, or the instruction cache missed" },
  throttled: { title: "throttled", explain: "operands and unit are there, but the throttle policy does not let the warp issue" },
  launch: { title: "launch", explain: "no block is on any SM and a launch is on its way to one: the machine's launch latency, not the program's work" },
};

/** Why an L1D took no access. */
export const kRefusalTerms: { [name: string]: Term } = {
  mshr: { title: "MSHR", explain: "no MSHR was free" },
  merge: { title: "merge", explain: "an MSHR held as many accesses as it can" },
  way: { title: "way", explain: "every way of the set waited for its data" },
  miss_queue: { title: "miss queue", explain: "the queue to the network was full" },
  store_buffer: { title: "store buffer", explain: "the store buffer was full" },
  write_back: { title: "write-back", explain: "the line was on its way to the L2" },
};

/** Where loads had their data from. */
export const kServedTerms: { [name: string]: Term } = {
  l1: { title: "L1", explain: "the L1" },
  remote_l1: { title: "remote L1", explain: "another L1" },
  l2: { title: "L2", explain: "the L2" },
  memory: { title: "memory", explain: "DRAM" },
};
