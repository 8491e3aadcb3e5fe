#include "raddle/accelsim/tracez.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "raddle/base/error.h"

namespace raddle::accelsim {

namespace {

constexpr std::size_t kMaxHeader = std::size_t{1} << 16;
constexpr std::uint32_t kMaxDictionary = 1u << 24;
constexpr std::size_t kReadBytes = std::size_t{1} << 16;  // of the file, read at once
constexpr unsigned kPlaceBytes = 8;                       // of the index, at the file's end

}  // namespace

/// One frame after another, all with the file's dictionary.
struct TracezText::Unpacker {
  struct FreeContext {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  struct FreeDictionary {
    void operator()(ZSTD_DDict* dictionary) const { ZSTD_freeDDict(dictionary); }
  };
  std::unique_ptr<ZSTD_DCtx, FreeContext> context{ZSTD_createDCtx()};
  std::unique_ptr<ZSTD_DDict, FreeDictionary> dictionary;
  std::vector<char> packed = std::vector<char>(kReadBytes);
  std::size_t at = 0, end = 0;  // of what is read and not yet unpacked
};

bool TracezText::begins(std::string_view front) {
  const std::size_t end = front.find('\0');
  return front.starts_with('-') && end != std::string_view::npos;
}

TracezText::TracezText(std::FILE* file)
    : file_(fileno(file)), unpacker_(std::make_unique<Unpacker>()) {}

TracezText::~TracezText() = default;

void TracezText::bad(std::uint64_t at, const std::string& what) {
  throw InputError("byte " + std::to_string(at) + " of the .tracez file: " + what);
}

void TracezText::bytes_at(std::uint64_t at, char* to, std::size_t n, std::string_view what) const {
  for (std::size_t done = 0; done < n;) {
    const auto got = pread(file_, to + done, n - done, static_cast<off_t>(at + done));
    if (got <= 0) bad(at + done, "the file ends inside " + std::string(what));
    done += static_cast<std::size_t>(got);
  }
}

template <class Number>
Number TracezText::from_index() {
  if (end_ - index_at_ < sizeof(Number)) bad(index_at_, "the index ends early");
  if (index_at_ < buffered_ || index_at_ + sizeof(Number) > buffered_ + index_buffer_.size()) {
    index_buffer_.resize(std::min<std::uint64_t>(kReadBytes, end_ - index_at_));
    buffered_ = index_at_;
    bytes_at(buffered_, index_buffer_.data(), index_buffer_.size(), "the index");
  }
  Number out = 0;
  std::memcpy(&out, index_buffer_.data() + (index_at_ - buffered_), sizeof out);
  index_at_ += sizeof out;
  return out;
}

void TracezText::header() {
  struct stat status {};
  if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode))
    bad(0, "a .tracez must be a file that can be read at any place");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  text_.resize(std::min<std::uint64_t>(size, kMaxHeader));
  bytes_at(0, text_.data(), text_.size(), "the kernel's header");
  const std::size_t length = text_.find('\0');
  if (length == std::string::npos)
    bad(text_.size(), "no byte 0 ends the kernel's header within 64 KiB");
  text_.resize(length);
  std::array<std::uint32_t, 2> numbers{};
  data_ = length + 1 + sizeof numbers;
  bytes_at(length + 1, reinterpret_cast<char*>(numbers.data()), sizeof numbers, "the header");
  const std::uint32_t dictionary = numbers[0];
  if (dictionary > kMaxDictionary || data_ + dictionary + kPlaceBytes > size)
    bad(length + 1, "a dictionary of " + std::to_string(dictionary) +
                        " bytes, which is more than " + "there can be");
  if (dictionary != 0) {
    std::vector<char> bytes(dictionary);
    bytes_at(data_, bytes.data(), bytes.size(), "the dictionary");
    unpacker_->dictionary.reset(ZSTD_createDDict(bytes.data(), bytes.size()));
    if (unpacker_->dictionary == nullptr) bad(data_, "the dictionary is damaged");
  }
  data_ += dictionary;
  end_ = size - kPlaceBytes;
  bytes_at(end_, reinterpret_cast<char*>(&index_), sizeof index_, "the place of the index");
  if (index_ < data_ || index_ > end_)
    bad(end_, "the index is said to be at byte " + std::to_string(index_) + ", outside of " +
                  std::to_string(data_) + " to " + std::to_string(end_));
  index_at_ = index_;
  blocks_ = from_index<std::uint32_t>();
  stage_ = Stage::Block;
}

void TracezText::block() {
  if (block_ == blocks_) {
    if (index_at_ != end_)
      bad(index_at_, "the index has " + std::to_string(end_ - index_at_) + " bytes too many");
    stage_ = Stage::End;
    return;
  }
  ++block_;
  std::array<std::uint32_t, 10> n{};
  for (std::uint32_t& number : n) number = from_index<std::uint32_t>();
  warps_ = from_index<std::uint32_t>();
  warp_ = 0;
  const auto three = [&](unsigned from) {
    return std::to_string(n[from]) + "," + std::to_string(n[from + 1]) + "," +
           std::to_string(n[from + 2]) + "\n";
  };
  text_ += "\n#BEGIN_TB\n\nthread block = " + three(0) + "cluster id = " + three(3) +
           "cluster cta = " + three(6) + "cluster rank = " + std::to_string(n[9]) + "\n";
  stage_ = Stage::Warp;
}

void TracezText::warp() {
  if (warp_ == warps_) {
    text_ += "\n#END_TB\n";
    stage_ = Stage::Block;
    return;
  }
  const std::uint64_t entry = index_at_;
  instructions_ = left_ = from_index<std::uint32_t>();
  chunks_ = from_index<std::uint32_t>();
  chunk_ = 0;
  at_ = from_index<std::uint64_t>();
  std::array<std::uint32_t, 2> front{};
  if (at_ < data_ || at_ > index_ || index_ - at_ < sizeof front)
    bad(entry, "a warp at byte " + std::to_string(at_) + ", outside of the warps' bytes " +
                   std::to_string(data_) + " to " + std::to_string(index_));
  bytes_at(at_, reinterpret_cast<char*>(front.data()), sizeof front, "a warp");
  if (front[0] != instructions_ || front[1] != chunks_)
    bad(at_, "the warp says " + std::to_string(front[0]) + " instructions in " +
                 std::to_string(front[1]) + " sub-chunks, the index " +
                 std::to_string(instructions_) + " in " + std::to_string(chunks_));
  at_ += sizeof front;
  text_ +=
      "\nwarp = " + std::to_string(warp_++) + "\ninsts = " + std::to_string(instructions_) + "\n";
  stage_ = Stage::Chunk;
}

void TracezText::begin_chunk() {
  if (chunk_ == chunks_) {
    if (left_ != 0)
      bad(index_at_, "the warp's sub-chunks have " + std::to_string(instructions_ - left_) +
                         " instructions, the warp " + std::to_string(instructions_));
    stage_ = Stage::Warp;
    return;
  }
  chunk_lines_ = from_index<std::uint32_t>();
  std::uint32_t bytes = 0;
  if (index_ - at_ < sizeof bytes) bad(at_, "a sub-chunk behind the warps' bytes");
  bytes_at(at_, reinterpret_cast<char*>(&bytes), sizeof bytes, "a sub-chunk");
  at_ += sizeof bytes;
  if (bytes > index_ - at_)
    bad(at_, "a sub-chunk of " + std::to_string(bytes) + " bytes where " +
                 std::to_string(index_ - at_) + " are left");
  if (chunk_lines_ == 0 || chunk_lines_ > left_)
    bad(index_at_ - sizeof chunk_lines_, "a sub-chunk of " + std::to_string(chunk_lines_) +
                                             " instructions, and the warp has " +
                                             std::to_string(left_) + " more");
  chunk_end_ = at_ + bytes;
  lines_ = 0;
  line_open_ = false;
  Unpacker& unpacker = *unpacker_;
  unpacker.at = unpacker.end = 0;
  ZSTD_DCtx_reset(unpacker.context.get(), ZSTD_reset_session_only);
  ZSTD_DCtx_refDDict(unpacker.context.get(), unpacker.dictionary.get());
  stage_ = Stage::InChunk;
}

std::size_t TracezText::in_chunk(char* to, std::size_t room) {
  Unpacker& unpacker = *unpacker_;
  ZSTD_outBuffer out{to, room, 0};
  while (out.pos != room) {
    if (unpacker.at == unpacker.end && at_ != chunk_end_) {
      unpacker.end = std::min<std::uint64_t>(kReadBytes, chunk_end_ - at_);
      unpacker.at = 0;
      bytes_at(at_, unpacker.packed.data(), unpacker.end, "a sub-chunk");
      at_ += unpacker.end;
    }
    ZSTD_inBuffer in{unpacker.packed.data(), unpacker.end, unpacker.at};
    const std::size_t before = out.pos;
    const std::size_t status = ZSTD_decompressStream(unpacker.context.get(), &out, &in);
    if (ZSTD_isError(status) != 0)
      bad(at_ - unpacker.end + in.pos,
          std::string("the compressed data is damaged (zstd: ") + ZSTD_getErrorName(status) + ")");
    const bool moved = in.pos != unpacker.at || out.pos != before;
    unpacker.at = in.pos;
    if (status != 0 && !moved) bad(at_, "the compressed data of a sub-chunk ends early");
    if (status != 0) continue;
    stage_ = Stage::Chunk;
    break;
  }
  lines_ += static_cast<std::uint64_t>(std::count(to, to + out.pos, '\n'));
  if (out.pos != 0) line_open_ = to[out.pos - 1] != '\n';
  if (stage_ == Stage::Chunk) end_chunk();
  return out.pos;
}

void TracezText::end_chunk() {
  if (at_ != chunk_end_ || unpacker_->at != unpacker_->end)
    bad(at_ - (unpacker_->end - unpacker_->at), "a sub-chunk has bytes behind its compressed data");
  if (line_open_) {
    ++lines_;
    text_ += '\n';
  }
  if (lines_ != chunk_lines_)
    bad(chunk_end_, "the sub-chunk that ends here has " + std::to_string(lines_) +
                        " lines, and the index says " + std::to_string(chunk_lines_));
  left_ -= chunk_lines_;
  ++chunk_;
}

std::size_t TracezText::read(char* to, std::size_t room) {
  std::size_t n = 0;
  bool header_only = false;
  while (n != room) {
    if (text_at_ != text_.size()) {
      const std::size_t part = std::min(room - n, text_.size() - text_at_);
      std::memcpy(to + n, text_.data() + text_at_, part);
      n += part;
      text_at_ += part;
      continue;
    }
    text_.clear();
    text_at_ = 0;
    if (header_only && n != 0) return n;
    switch (stage_) {
      case Stage::Header:
        header();
        header_only = true;
        break;
      case Stage::Block:
        block();
        break;
      case Stage::Warp:
        warp();
        break;
      case Stage::Chunk:
        begin_chunk();
        break;
      case Stage::InChunk:
        n += in_chunk(to + n, room - n);
        break;
      case Stage::End:
        return n;
    }
  }
  return n;
}

}  // namespace raddle::accelsim
