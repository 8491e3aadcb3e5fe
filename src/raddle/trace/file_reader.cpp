#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/base/json.h"
#include "raddle/trace/codec.h"
#include "raddle/trace/file.h"
#include "raddle/trace/file_sections.h"
#include "raddle/trace/json_numbers.h"

namespace raddle::trace {

using Json = nlohmann::ordered_json;

namespace {

struct Batch {
  std::uint32_t first_block, blocks;
  std::uint64_t offset;
};
struct LaunchEntry {
  LaunchHeader header;
  LaunchShape shape;
  std::shared_ptr<const KernelCode> code;
  std::vector<Batch> batches;
};

constexpr std::uint32_t kMaxStreams = 1u << 20, kMaxThreads = 1024;

/// Extents of something that has `most` elements at most, and one at least.
Dim3 dim_of(const Json& j, std::uint64_t maximum) {
  const auto extent = [&](std::size_t i) { return number<std::uint32_t>(j.at(i)); };
  const Dim3 out{extent(0), extent(1), extent(2)};
  std::uint64_t count = 1;
  for (const std::uint64_t n : {out.x, out.y, out.z}) {
    if (n == 0 || n > maximum / count)
      throw InputError(
          fmt::format("a launch of {}x{}x{}, where 1 to {} fit", out.x, out.y, out.z, maximum));
    count *= n;
  }
  return out;
}

/// The bytes of the file, by offset.
class Bytes {
 public:
  explicit Bytes(std::string path) : path_(std::move(path)) {
    check_readable(path_, "a recording");
    file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (file_ < 0 || fstat(file_, &info) != 0)
      throw InputError({path_}, std::string("cannot be read: ") + std::strerror(errno));
    size_ = static_cast<std::uint64_t>(info.st_size);
  }
  ~Bytes() { ::close(file_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  std::uint64_t size() const { return size_; }
  [[noreturn]] void bad(std::uint64_t at, const std::string& what) const {
    throw InputError({path_}, fmt::format("byte {}: {}", at, what));
  }
  void read(std::uint64_t at, void* to, std::size_t bytes) const {
    if (at > size_ || bytes > size_ - at) bad(size_, "the file is truncated");
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t n =
          pread(file_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(at + done));
      if (n <= 0) bad(at + done, "cannot be read");
      done += static_cast<std::size_t>(n);
    }
  }

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

/// Header of the section at `at`, checked for plausibility, and its packed bytes, checked against
/// the hash.
SectionHeader section_at(const Bytes& bytes, std::uint64_t at, std::string& packed) {
  SectionHeader header;
  bytes.read(at, &header, sizeof header);
  if (header.kind < 1 || header.kind > 5 || header.raw_bytes > kMaxSectionBytes ||
      header.packed_bytes > kMaxSectionBytes)
    bytes.bad(at, "no section begins here: the file was altered");
  if (header.packed_bytes > bytes.size() - at - sizeof header)
    bytes.bad(bytes.size(), "the file is truncated");
  packed.resize(header.packed_bytes);
  bytes.read(at + sizeof header, packed.data(), packed.size());
  if (section_hash(header, packed) != header.hash)
    bytes.bad(at, "the section here was altered (checksum)");
  return header;
}

/// The thread's: launches are read by several at once, and many of their sections are small.
ZSTD_DCtx* unpacking() {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (context == nullptr) throw std::bad_alloc();
  return context.get();
}

std::string unpack(const Bytes& bytes, std::uint64_t at, const SectionHeader& header,
                   const std::string& packed) {
  if (header.raw_bytes > max_raw_bytes(SectionKind{header.kind}, header.packed_bytes))
    bytes.bad(at, fmt::format("the {} bytes of the section here claim to hold {}: no recording",
                              header.packed_bytes, header.raw_bytes));
  // Before so much memory is asked for: the packed bytes know their size as well.
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != header.raw_bytes)
    bytes.bad(at, "the section here cannot be unpacked");
  std::string raw(header.raw_bytes, '\0');
  const std::size_t n =
      ZSTD_decompressDCtx(unpacking(), raw.data(), raw.size(), packed.data(), packed.size());
  if (ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  if (ZSTD_isError(n) != 0 || n != raw.size()) bytes.bad(at, "the section here cannot be unpacked");
  return raw;
}

/// One launch being replayed: sections are decoded when the first of their blocks starts and
/// dropped when the last has ended.
class FileStream final : public KernelStream {
 public:
  FileStream(const Bytes& bytes, const LaunchEntry& launch) : bytes_(bytes), launch_(launch) {}
  const KernelCode& code() const override { return *launch_.code; }
  const LaunchShape& shape() const override { return launch_.shape; }
  bool concurrent() const override { return true; }

  WarpCursor open(std::uint32_t block, unsigned warp) override {
    const std::lock_guard lock(mutex_);
    const Loaded& loaded = load(block);
    const BlockBatch& batch = loaded.batch;
    const std::size_t i =
        std::size_t{block - batch.first_block} * launch_.shape.warps_per_block() + warp;
    return {batch.words.data() + batch.start[i], batch.words.data() + batch.start[i + 1], nullptr};
  }
  bool refill(WarpCursor&) override { return false; }
  void close(std::uint32_t block) override {
    const std::lock_guard lock(mutex_);
    const auto found = loaded_.find(batch_of(block));
    if (--found->second.left == 0) loaded_.erase(found);
  }

 private:
  struct Loaded {
    BlockBatch batch;
    std::uint32_t left;  // blocks that have not ended
  };
  std::size_t batch_of(std::uint32_t block) const {
    const auto after = std::ranges::upper_bound(launch_.batches, block, {}, &Batch::first_block);
    return static_cast<std::size_t>(after - launch_.batches.begin()) - 1;
  }
  const Loaded& load(std::uint32_t block) {
    const std::size_t b = batch_of(block);
    if (const auto found = loaded_.find(b); found != loaded_.end()) return found->second;
    const std::uint64_t at = launch_.batches[b].offset;
    std::string packed;
    const std::string raw = unpack(bytes_, at, section_at(bytes_, at, packed), packed);
    try {
      BlockBatch batch = decode(raw, *launch_.code, launch_.shape.warps_per_block());
      if (batch.first_block != launch_.batches[b].first_block ||
          batch.blocks != launch_.batches[b].blocks)
        throw InputError("its blocks are not those of the index");
      const std::uint32_t blocks = batch.blocks;
      return loaded_.emplace(b, Loaded{std::move(batch), blocks}).first->second;
    } catch (const InputError& error) {
      bytes_.bad(at, error.what());
    }
  }

  const Bytes& bytes_;
  const LaunchEntry& launch_;
  std::mutex mutex_;
  std::map<std::size_t, Loaded> loaded_;
};

using KernelCodes = std::vector<std::shared_ptr<const KernelCode>>;

/// What is in the launch, or the number of one that an earlier launch has had.
std::shared_ptr<const KernelCode> code_of(const Json& j, KernelCodes& codes) {
  if (j.is_object())
    return codes.emplace_back(std::make_shared<const KernelCode>(code_from_json(j)));
  const auto i = number<std::uint64_t>(j);
  if (i >= codes.size()) throw InputError("a launch has the code of a later one");
  return codes[i];
}

LaunchEntry launch_of(const Json& j, KernelCodes& codes) {
  LaunchEntry out;
  out.header = {j.at("name"),
                number<std::uint64_t>(j.at("sequence")),
                number(j.at("stream"), kMaxStreams),
                0,
                0,
                j.at("operations")};
  if (j.contains("origin")) out.header.origin = origin_from_json(j.at("origin"));
  if (j.contains("allocations")) out.header.allocations = changes_from_json(j["allocations"]);
  if (j.contains("pointers")) out.header.pointers = pointers_from_json(j["pointers"]);
  out.shape = {dim_of(j.at("grid"), ~std::uint32_t{0}), dim_of(j.at("block"), kMaxThreads),
               number<std::uint32_t>(j.at("dynamic_shared_bytes"))};
  out.code = code_of(j.at("code"), codes);
  return out;
}

/// The index must name every Blocks section of the launch, and they cover each block once, in
/// order.
std::vector<Batch> batches_of(const Json& index, const LaunchShape& shape,
                              const std::vector<std::uint64_t>& sections) {
  std::vector<Batch> out;
  std::uint64_t next = 0;
  if (!index.is_array() || index.size() != sections.size())
    throw InputError("the index does not name the sections of its launch");
  for (const Json& entry : index) {
    out.push_back({number<std::uint32_t>(entry.at(0)), number<std::uint32_t>(entry.at(1)),
                   number<std::uint64_t>(entry.at(2))});
    const Batch& last = out.back();
    if (last.first_block != next || last.blocks == 0)
      throw InputError("the index leaves out blocks");
    if (last.offset != sections[out.size() - 1])
      throw InputError("the index does not name the sections of its launch");
    next += last.blocks;
  }
  if (next != shape.grid.count()) throw InputError("the index leaves out blocks");
  return out;
}

constexpr std::string_view kKindNames[] = {"", "header", "launch", "blocks", "index", "end"};

}  // namespace

struct FileReader::Impl {
  Bytes bytes;
  Json header, trailer;
  std::vector<LaunchEntry> launches;
  KernelCodes codes;
  std::size_t tree_begin = 0;  // the last launch of the host
  FileChecks checks;
  std::vector<std::uint64_t> sections;  // with blocks, of the launch that is read

  Impl(std::string path, FileChecks asked) : bytes(std::move(path)), checks(std::move(asked)) {
    std::string magic(kFileMagic.size(), '\0');
    std::uint32_t version = 0;
    if (bytes.size() < magic.size() + sizeof version)
      bytes.bad(0, "not a Raddle op-stream file (too short)");
    bytes.read(0, magic.data(), magic.size());
    if (magic != kFileMagic) bytes.bad(0, "not a Raddle op-stream file");
    bytes.read(magic.size(), &version, sizeof version);
    if (version < kOldestFileVersion || version > kFileVersion)
      bytes.bad(magic.size(),
                fmt::format("written in version {} of the format, this program reads versions {} "
                            "to {}",
                            version, kOldestFileVersion, kFileVersion));
    scan(magic.size() + sizeof version);
  }

  void scan(std::uint64_t at) {
    std::string packed;
    std::optional<SectionKind> before;
    for (bool ended = false; !ended;) {
      if (at == bytes.size()) bytes.bad(at, "the file is truncated: its end section is missing");
      const SectionHeader section = section_at(bytes, at, packed);
      const auto kind = static_cast<SectionKind>(section.kind);
      check_order(at, before, kind);
      if (kind == SectionKind::Blocks) sections.push_back(at);
      else take(at, kind, unpack(bytes, at, section, packed));
      before = kind;
      ended = kind == SectionKind::End;
      at += sizeof section + section.packed_bytes;
    }
    if (at != bytes.size()) bytes.bad(at, "bytes after the end section");
  }

  void check_order(std::uint64_t at, std::optional<SectionKind> before, SectionKind kind) const {
    const bool in_launch = before == SectionKind::Launch || before == SectionKind::Blocks;
    const bool fits = !before     ? kind == SectionKind::Header
                      : in_launch ? kind == SectionKind::Blocks || kind == SectionKind::Index
                                  : kind == SectionKind::Launch || kind == SectionKind::End;
    if (fits) return;
    const char* const expected = !before     ? "the header"
                                 : in_launch ? "blocks or the index of the launch"
                                             : "a launch or the end";
    bytes.bad(at, fmt::format("expected {}, found a section of kind '{}'", expected,
                              kKindNames[static_cast<std::size_t>(kind)]));
  }

  /// A section of JSON. What is wrong in it is told with its place.
  void take(std::uint64_t at, SectionKind kind, const std::string& raw) {
    const auto fail = [&](const std::string& what) {
      bytes.bad(at, fmt::format("in the {} section here: {}",
                                kKindNames[static_cast<std::size_t>(kind)], what));
    };
    try {
      take(kind, parse_json(raw, ""));
    } catch (const Json::exception& error) {
      fail(plain_words(error));
    } catch (const InputError& error) {
      fail(error.what());
    }
  }

  /// Parents and launches that are waited for come before those that name them.
  void check_origin() {
    const auto& origin = launches.back().header.origin;
    if (!origin) return void(tree_begin = launches.size() - 1);
    if (launches.size() == 1) throw InputError("a kernel's launch before any of the host");
    const std::uint64_t number = launches.size() - 1 - tree_begin;
    bool earlier = origin->parent < number;
    for (const std::uint32_t other : origin->after) earlier = earlier && other < number;
    if (!earlier) throw InputError("a launch that comes from a later one");
  }

  void take(SectionKind kind, const Json& json) {
    switch (kind) {
      case SectionKind::Header:
        if (checks.header) checks.header(json);
        header = json;
        break;
      case SectionKind::Launch:
        launches.push_back(launch_of(json, codes));
        if (launches.back().header.sequence != launches.size() - 1)
          throw InputError("the launch is not number " + std::to_string(launches.size() - 1));
        check_origin();
        if (checks.operations) checks.operations(json.at("operations"));
        sections.clear();
        break;
      case SectionKind::Index:
        launches.back().batches = batches_of(json.at("blocks"), launches.back().shape, sections);
        launches.back().header.warp_instructions =
            number<std::uint64_t>(json.at("warp_instructions"));
        launches.back().header.thread_instructions =
            number<std::uint64_t>(json.at("thread_instructions"));
        break;
      case SectionKind::End:
        if (checks.trailer) checks.trailer(json);
        trailer = json;
        break;
      case SectionKind::Blocks:
        break;
    }
  }
};

FileReader::FileReader(std::string path, FileChecks checks)
    : impl_(std::make_unique<Impl>(std::move(path), std::move(checks))) {}
FileReader::~FileReader() = default;
const Json& FileReader::header() const { return impl_->header; }
const Json& FileReader::trailer() const { return impl_->trailer; }
std::size_t FileReader::launches() const { return impl_->launches.size(); }
const LaunchHeader& FileReader::launch(std::size_t i) const { return impl_->launches.at(i).header; }
std::unique_ptr<KernelStream> FileReader::open(std::size_t i) const {
  return std::make_unique<FileStream>(impl_->bytes, impl_->launches.at(i));
}

}  // namespace raddle::trace
