#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/trace/codec.h"
#include "raddle/trace/file.h"
#include "raddle/trace/file_sections.h"
#include "raddle/trace/output_file.h"

namespace raddle::trace {

using Json = nlohmann::ordered_json;

namespace {

/// The file section by section.
class Output {
 public:
  explicit Output(std::string path) : file_(std::move(path)) {}
  std::uint64_t at() const { return file_.at(); }
  void write(const void* data, std::size_t bytes) { file_.write(data, bytes); }
  /// Returns the offset at which the section begins.
  std::uint64_t section(SectionKind kind, std::string_view raw) {
    std::string packed(ZSTD_compressBound(raw.size()), '\0');
    packed.resize(ZSTD_compressCCtx(packing_.get(), packed.data(), packed.size(), raw.data(),
                                    raw.size(), kCompressionLevel));
    pad(kind, raw.size(), packed);
    const SectionHeader header = seal(kind, static_cast<std::uint32_t>(raw.size()), packed);
    const std::uint64_t begin = at();
    write(&header, sizeof header);
    write(packed.data(), packed.size());
    return begin;
  }
  void put_in_place() { file_.put_in_place(); }

 private:
  /// See max_raw_bytes().
  static void pad(SectionKind kind, std::size_t raw_bytes, std::string& packed) {
    constexpr std::uint32_t kSkippable = 0x184d2a50;
    std::uint32_t head[2] = {kSkippable, 0};
    const std::size_t room = packed.size() + sizeof head;
    if (raw_bytes <= max_raw_bytes(kind, packed.size())) return;
    while (raw_bytes > max_raw_bytes(kind, room + head[1])) head[1] += 1024;
    packed.append(reinterpret_cast<const char*>(head), sizeof head).append(head[1], '\0');
  }
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  OutputFile file_;
  // One for all sections: a launch of a kernel has three, of some hundred bytes.
  std::unique_ptr<ZSTD_CCtx, Free> packing_{ZSTD_createCCtx()};
};

/// The codes that are in the file, which launches of the same kernel share.
class Codes {
 public:
  /// Of a launch: the code, or its number if the file has it already.
  Json notify(const KernelCode& code) {
    auto& same_name = by_name_[code.name];
    const auto found = std::ranges::find(same_name, code, &Numbered::code);
    if (found != same_name.end()) return found->number;
    same_name.push_back({code, next_++});
    return code_to_json(code);
  }

 private:
  struct Numbered {
    KernelCode code;
    std::uint32_t number;
  };
  std::map<std::string, std::vector<Numbered>> by_name_;
  std::uint32_t next_ = 0;
};

/// Keeps the streams of blocks that run; writes those that have ended, in order.
class LaunchWriter final : public StreamWriter {
 public:
  LaunchWriter(Output& out, const KernelCode& code, const LaunchShape& shape)
      : out_(out),
        code_(code),
        warps_(shape.warps_per_block()),
        blocks_(static_cast<std::uint32_t>(shape.grid.count())) {}

  Room grow(std::uint32_t block, unsigned warp, unsigned words) override {
    Tail& tail = tail_of(block, warp);
    tail.words.resize(tail.used + std::max<std::size_t>(words, tail.used / 2 + 64));
    return {tail.words.data() + tail.used, tail.words.data() + tail.words.size()};
  }
  void commit(std::uint32_t block, unsigned warp, std::uint32_t* at) override {
    Tail& tail = tail_of(block, warp);
    tail.used = static_cast<std::size_t>(at - tail.words.data());
  }
  void finish(std::uint32_t block) override {
    running_[block].ended = true;
    for (auto first = running_.begin();
         first != running_.end() && first->first == next_ && first->second.ended;
         first = running_.erase(first), ++next_)
      append(first->second);
  }
  /// What has not been written yet, then the list of sections.
  void close(Json index) {
    RADDLE_ASSERT(next_ == blocks_);
    index["blocks"] = std::move(sections_);
    out_.section(SectionKind::Index, json_dump(index));
  }

 private:
  struct Tail {
    std::vector<std::uint32_t> words;
    std::size_t used = 0;
  };
  struct Block {
    std::vector<Tail> warps;
    bool ended = false;
  };
  Tail& tail_of(std::uint32_t block, unsigned warp) {
    Block& b = running_[block];
    if (b.warps.empty()) b.warps.resize(warps_);
    return b.warps[warp];
  }
  void append(const Block& block) {
    for (const Tail& tail : block.warps) {
      batch_.words.insert(batch_.words.end(), tail.words.begin(),
                          tail.words.begin() + static_cast<std::ptrdiff_t>(tail.used));
      batch_.start.push_back(static_cast<std::uint32_t>(batch_.words.size()));
    }
    ++batch_.blocks;
    if (batch_.words.size() < kBatchWords && next_ + 1 < blocks_) return;
    const std::uint64_t where = out_.section(SectionKind::Blocks, encode(batch_, code_));
    sections_.push_back({batch_.first_block, batch_.blocks, where});
    batch_ = {next_ + 1, 0, {}, {0}};
  }

  Output& out_;
  const KernelCode& code_;
  unsigned warps_;
  std::uint32_t blocks_, next_ = 0;  // next_: the first block that is not in the file yet
  std::map<std::uint32_t, Block> running_;
  BlockBatch batch_{0, 0, {}, {0}};
  Json sections_ = Json::array();
};

}  // namespace

struct FileWriter::Impl {
  Output out;
  std::unique_ptr<LaunchWriter> launch;
  Codes codes;
};

FileWriter::FileWriter(std::string path, const Json& header) {
  if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
    throw InputError("cannot create " + path + ": it is there and not a file");
  impl_.reset(new Impl{Output(std::move(path)), nullptr, {}});
  impl_->out.write(kFileMagic.data(), kFileMagic.size());
  impl_->out.write(&kFileVersion, sizeof kFileVersion);
  impl_->out.section(SectionKind::Header, json_dump(header));
}

FileWriter::~FileWriter() = default;

std::uint64_t FileWriter::bytes() const { return impl_->out.at(); }

StreamWriter& FileWriter::begin(const KernelCode& code, const LaunchShape& shape,
                                const LaunchHeader& launch) {
  RADDLE_ASSERT(impl_->launch == nullptr);
  Json section{{"name", launch.name},
               {"sequence", launch.sequence},
               {"stream", launch.stream},
               {"operations", launch.operations},
               {"grid", {shape.grid.x, shape.grid.y, shape.grid.z}},
               {"block", {shape.block.x, shape.block.y, shape.block.z}},
               {"dynamic_shared_bytes", shape.dynamic_shared_bytes},
               {"code", impl_->codes.notify(code)}};
  if (launch.origin) section["origin"] = origin_to_json(*launch.origin);
  if (!launch.allocations.empty()) section["allocations"] = changes_to_json(launch.allocations);
  if (!launch.pointers.empty()) section["pointers"] = pointers_to_json(launch.pointers);
  impl_->out.section(SectionKind::Launch, json_dump(section));
  impl_->launch = std::make_unique<LaunchWriter>(impl_->out, code, shape);
  return *impl_->launch;
}

void FileWriter::end(std::uint64_t warp_instructions, std::uint64_t thread_instructions) {
  RADDLE_ASSERT(impl_->launch != nullptr);
  impl_->launch->close(
      {{"warp_instructions", warp_instructions}, {"thread_instructions", thread_instructions}});
  impl_->launch.reset();
}

void FileWriter::finish(const Json& trailer) {
  impl_->out.section(SectionKind::End, json_dump(trailer));
  impl_->out.put_in_place();
}

}  // namespace raddle::trace
