#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <cstdio>
#include <filesystem>

#include "raddle/base/error.h"
#include "raddle/trace/codec.h"
#include "raddle/trace/file.h"
#include "raddle/trace/file_sections.h"

namespace raddle::trace {

using Json = nlohmann::ordered_json;

struct FileWriter::Impl {
  std::string path, temporary;
  std::FILE* file = nullptr;
  std::uint64_t at = 0;

  void write(const void* data, std::size_t bytes) {
    if (std::fwrite(data, 1, bytes, file) != bytes)
      throw RunError("cannot write " + path + ": the disk is full or gone");
    at += bytes;
  }
  /// Returns the offset at which the section begins.
  std::uint64_t section(SectionKind kind, std::string_view raw) {
    std::string packed(ZSTD_compressBound(raw.size()), '\0');
    packed.resize(
        ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), kCompressionLevel));
    const SectionHeader header = seal(kind, static_cast<std::uint32_t>(raw.size()), packed);
    const std::uint64_t begin = at;
    write(&header, sizeof header);
    write(packed.data(), packed.size());
    return begin;
  }
  void blocks(const BlockBatch& batch, const KernelCode& code, Json& index) {
    const std::uint64_t where = section(SectionKind::Blocks, encode(batch, code));
    index.push_back({batch.first_block, batch.blocks, where});
  }
};

FileWriter::FileWriter(std::string path, const Json& header) : impl_(std::make_unique<Impl>()) {
  impl_->path = std::move(path);
  impl_->temporary = impl_->path + ".tmp" + std::to_string(getpid());
  impl_->file = std::fopen(impl_->temporary.c_str(), "wb");
  if (impl_->file == nullptr) throw InputError("cannot create " + impl_->path);
  impl_->write(kFileMagic.data(), kFileMagic.size());
  impl_->write(&kFileVersion, sizeof kFileVersion);
  impl_->section(SectionKind::Header, header.dump());
}

FileWriter::~FileWriter() {
  if (impl_->file == nullptr) return;
  std::fclose(impl_->file);
  std::remove(impl_->temporary.c_str());
}

std::uint64_t FileWriter::bytes() const { return impl_->at; }

void FileWriter::add(KernelStream& stream, const LaunchHeader& launch) {
  const LaunchShape& shape = stream.shape();
  const unsigned warps = shape.warps_per_block();
  impl_->section(SectionKind::Launch, Json{{"name", launch.name},
                                           {"sequence", launch.sequence},
                                           {"stream", launch.stream},
                                           {"warp_instructions", launch.warp_instructions},
                                           {"thread_instructions", launch.thread_instructions},
                                           {"grid", {shape.grid.x, shape.grid.y, shape.grid.z}},
                                           {"block", {shape.block.x, shape.block.y, shape.block.z}},
                                           {"dynamic_shared_bytes", shape.dynamic_shared_bytes},
                                           {"code", code_to_json(stream.code())}}
                                          .dump());
  Json index = Json::array();
  BlockBatch batch;
  batch.start.push_back(0);
  const auto blocks = static_cast<std::uint32_t>(shape.grid.count());
  for (std::uint32_t block = 0; block < blocks; ++block) {
    for (unsigned w = 0; w < warps; ++w) {
      WarpCursor cursor = stream.open(block, w);
      do batch.words.insert(batch.words.end(), cursor.at, cursor.end);
      while (cursor.at = cursor.end, stream.refill(cursor));
      batch.start.push_back(static_cast<std::uint32_t>(batch.words.size()));
    }
    stream.close(block);
    ++batch.blocks;
    if (batch.words.size() < kBatchWords && block + 1 < blocks) continue;
    impl_->blocks(batch, stream.code(), index);
    batch = {block + 1, 0, {}, {0}};
  }
  impl_->section(SectionKind::Index, index.dump());
}

void FileWriter::finish(const Json& trailer) {
  impl_->section(SectionKind::End, trailer.dump());
  std::FILE* file = std::exchange(impl_->file, nullptr);
  if (std::fclose(file) != 0) throw RunError("cannot write " + impl_->path);
  std::error_code error;
  std::filesystem::rename(impl_->temporary, impl_->path, error);
  if (error) throw RunError("cannot write " + impl_->path + ": " + error.message());
}

}  // namespace raddle::trace
