#include "raddle/analysis/dependencies.h"

#include <algorithm>

#include "raddle/analysis/figures.h"

namespace raddle::analysis {

DependenceCounts& DependenceCounts::operator+=(const DependenceCounts& o) {
  for (unsigned i = 0; i < kProducers; ++i) loads[i] += o.loads[i];
  return *this;
}

// --- memory -------------------------------------------------------------------------------------

Dependencies::Page& Dependencies::page(Address word) {
  auto& page = writers_[word / 4 / kPageWords];
  if (page == nullptr) page = std::make_unique<Page>();
  return *page;
}

Address Dependencies::array_of(Address at) const {
  const auto after = arrays_.upper_bound(at);
  if (after == arrays_.begin()) return 0;
  const auto& [start, end] = *std::prev(after);
  return at < end ? start : 0;
}

void Dependencies::freed(Address at) {
  const auto array = arrays_.find(at);
  if (array == arrays_.end()) return;
  for (Address word = at; word < array->second; word += 4) writer(word) = {};
  arrays_.erase(array);
}

void Dependencies::host_wrote(Address word) {
  writer(word) = grids_.empty() ? Writer{} : Writer{kHost, 0};
}

// --- launches -----------------------------------------------------------------------------------

void Dependencies::begin(const std::string& kernel, Dim3 grid) {
  grids_.push_back(grid);
  written_.assign(grid.count(), {});
  launch_logical_ = {};
  const auto known = std::ranges::find(kernels_, kernel, &KernelDependences::name);
  kernel_ = static_cast<std::size_t>(known - kernels_.begin());
  if (known == kernels_.end()) {
    kernels_.emplace_back();
    kernels_.back().name = kernel;
  }
  ++kernels_[kernel_].launches;
}

void Dependencies::end() {
  written_before_ = std::move(written_);
  if (launch_logical_.total() == 0) return;
  KernelDependences& kernel = kernels_[kernel_];
  const double self = static_cast<double>(launch_logical_.of(Producer::Self)) /
                      static_cast<double>(launch_logical_.total());
  const bool first = kernel.dependent_launches++ == 0;
  kernel.min_self = first ? self : std::min(kernel.min_self, self);
  kernel.max_self = first ? self : std::max(kernel.max_self, self);
}

Dim3 Dependencies::coordinates(std::uint32_t block, std::uint32_t launch) const {
  const Dim3& grid = grids_[launch - 1];
  return {block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y};
}

Producer Dependencies::producer(std::uint32_t block, const Writer& w) const {
  if (w.launch == 0) return Producer::Input;
  if (w.launch == kHost) return Producer::Host;
  const auto now = static_cast<std::uint32_t>(grids_.size());
  if (w.launch == now) return Producer::SameKernel;
  const Dim3 own = coordinates(block, now), its = coordinates(w.block, w.launch);
  const bool before = w.launch + 1 == now;
  if (own == its) return before ? Producer::Self : Producer::OlderSelf;
  const auto near = [](std::uint32_t a, std::uint32_t b) { return (a > b ? a - b : b - a) <= 1; };
  const bool neighbours = near(own.x, its.x) && near(own.y, its.y) && near(own.z, its.z);
  return before && neighbours ? Producer::Ghost : Producer::Elsewhere;
}

Dependencies::Thread& Dependencies::thread(Block& block, std::uint32_t number) {
  if (block.threads.size() <= number) block.threads.resize(number + 1);
  return block.threads[number];
}

// A tag is the word's address, of which two bits are free, and the producer below it.
namespace {
constexpr unsigned kProducerBits = 3;
constexpr unsigned kThreadBits = 10;
std::uint64_t touch_key(Address word, std::uint32_t thread) {
  return word / 4 << kThreadBits | thread;
}
}  // namespace

Dependencies::Tag Dependencies::load(std::uint32_t block, std::uint32_t thread, Address word) {
  const Producer by = producer(block, writer(word));
  Block& b = blocks_[block];
  bool& loaded = b.touched.try_emplace(touch_key(word, thread)).first->loaded;
  if (!loaded) ++b.executed.loads[static_cast<unsigned>(by)];
  loaded = true;
  return word << (kProducerBits - 2) | static_cast<unsigned>(by);
}

void Dependencies::use(std::uint32_t block, std::uint32_t number, Tag tag) {
  const Address word = tag >> kProducerBits << 2;
  const auto by = static_cast<unsigned>(tag & ((1u << kProducerBits) - 1));
  Block& b = blocks_[block];
  Thread& t = thread(b, number);
  std::uint32_t& used = b.touched.try_emplace(touch_key(word, number)).first->used;
  if (used == t.segment) return;
  if (used >= t.first) ++t.again[by];
  else ++b.logical.loads[by];
  used = t.segment;
}

void Dependencies::store(std::uint32_t block, std::uint32_t number, Address at, unsigned bytes) {
  const Address array = array_of(at);
  Block& b = blocks_[block];
  for (Address word = at & ~Address{3}; word < at + bytes; word += 4) {
    writer(word) = {static_cast<std::uint32_t>(grids_.size()), block};
    b.written.push_back(static_cast<std::uint32_t>((word - array) / 4));
  }
  Thread& t = thread(b, number);
  if (std::ranges::find(t.stored_to, array) != t.stored_to.end()) {
    // The thread's next output: it has used these words since it stored the last.
    for (unsigned i = 0; i < kProducers; ++i) b.logical.loads[i] += t.again[i];
    t.first = t.segment;
    t.stored_to.clear();
  }
  t.stored_to.push_back(array);
  t.again = {};
  ++t.segment;
}

bool Dependencies::stays(std::uint32_t block, const std::vector<std::uint32_t>& written) const {
  if (grids_.size() < 2) return false;
  const Dim3 own = coordinates(block, static_cast<std::uint32_t>(grids_.size()));
  const Dim3& grid = grids_[grids_.size() - 2];
  if (own.x >= grid.x || own.y >= grid.y || own.z >= grid.z) return false;
  const auto& before = written_before_[own.x + grid.x * (own.y + std::size_t{grid.y} * own.z)];
  return std::ranges::any_of(
      written, [&](std::uint32_t place) { return std::ranges::binary_search(before, place); });
}

void Dependencies::ended(std::uint32_t number) {
  const auto found = blocks_.find(number);
  if (found == blocks_.end()) return;  // it touched nothing
  Block& b = found->second;
  std::ranges::sort(b.written);
  b.written.erase(std::unique(b.written.begin(), b.written.end()), b.written.end());
  if (!stays(number, b.written))
    for (DependenceCounts* counts : {&b.executed, &b.logical}) {
      std::uint64_t& ghost = counts->loads[static_cast<unsigned>(Producer::Ghost)];
      counts->loads[static_cast<unsigned>(Producer::Elsewhere)] += ghost;
      ghost = 0;
    }
  kernels_[kernel_].executed += b.executed;
  kernels_[kernel_].logical += b.logical;
  launch_logical_ += b.logical;
  written_[number] = std::move(b.written);
  blocks_.erase(found);
}

// --- figures ------------------------------------------------------------------------------------

KernelDependences Dependencies::total() const {
  KernelDependences all;
  bool first = true;
  for (const KernelDependences& k : kernels_) {
    all.launches += k.launches;
    all.executed += k.executed;
    all.logical += k.logical;
    if (k.dependent_launches == 0) continue;
    all.dependent_launches += k.dependent_launches;
    all.min_self = first ? k.min_self : std::min(all.min_self, k.min_self);
    all.max_self = std::max(all.max_self, k.max_self);
    first = false;
  }
  return all;
}

namespace {
void visit_counts(FieldVisitor& v, std::string_view name, const DependenceCounts& c,
                  std::string_view doc) {
  constexpr std::array<std::string_view, kProducers> kDocs = {
      "the same block in the launch before",
      "a neighbouring block in the launch before, at the rim of a tile that stays",
      "the same block in an older launch",
      "the host, after the first launch",
      "any other block",
      "within the launch: not counted in shares",
      "nobody since the first launch: not counted in shares"};
  v.enter(name, doc);
  for (unsigned i = 0; i < kProducers; ++i) figure(v, kProducerNames[i], c.loads[i], kDocs[i]);
  figure(v, "other", c.other(), "older_self, host and elsewhere");
  ratio(v, "self_share", c.of(Producer::Self), c.total(), "of self, ghost and other");
  ratio(v, "ghost_share", c.of(Producer::Ghost), c.total(), "of self, ghost and other");
  ratio(v, "other_share", c.other(), c.total(), "of self, ghost and other");
  ratio(v, "self_or_older_share", c.of(Producer::Self) + c.of(Producer::OlderSelf), c.total(),
        "self and older_self");
  v.leave();
}

void visit_kernel(FieldVisitor& v, const KernelDependences& k) {
  figure(v, "launches", k.launches, "");
  visit_counts(v, "executed", k.executed, "distinct words that load instructions name");
  visit_counts(v, "logical", k.logical, "distinct words that outputs are computed from");
  double minimum = k.min_self, maximum = k.max_self;
  v.field("least_self_share", minimum, {}, "", "logical, of the launch in which it is smallest");
  v.field("most_self_share", maximum, {}, "", "logical, of the launch in which it is greatest");
}
}  // namespace

void Dependencies::visit(FieldVisitor& v) const {
  visit_kernel(v, total());
  figure(v, "unseen_instructions", unseen_,
         "warp instructions whose loads or copies the counting does not see");
  v.enter("kernels", "by name");
  for (const KernelDependences& k : kernels_) {
    v.enter(k.name, "");
    visit_kernel(v, k);
    v.leave();
  }
  v.leave();
}

}  // namespace raddle::analysis
