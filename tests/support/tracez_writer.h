// A .tracez file (accelsim/tracez.h) of the text of a .traceg file, as Accel-Sim's post-processor
// lays it out, and the text of such a file. What is no trace is packed all the same.
#pragma once
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/accelsim/tracez.h"

namespace raddle::test {

struct TracezOptions {
  std::string dictionary;
  std::size_t chunk_lines = 2048;
};

class TracezWriter {
 public:
  TracezWriter(std::string_view text, TracezOptions options) : options_(std::move(options)) {
    const std::size_t body = text.find("\n#BEGIN_TB");
    out_ = text.substr(0, body);
    out_ += '\0';
    word<std::uint32_t>(out_, options_.dictionary.size());
    word<std::uint32_t>(out_, options_.chunk_lines);
    out_ += options_.dictionary;
    std::string_view rest = body == std::string_view::npos ? std::string_view() : text.substr(body);
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      line(rest.substr(0, end));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    end_block();
    const std::uint64_t index = out_.size();
    word<std::uint32_t>(out_, blocks_);
    out_ += index_;
    word<std::uint64_t>(out_, index);
  }
  const std::string& bytes() const { return out_; }

 private:
  template <class Number>
  static void word(std::string& to, std::uint64_t value) {
    const auto number = static_cast<Number>(value);
    to.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void three(std::string_view line, unsigned at) {
    unsigned n[3] = {};
    std::sscanf(std::string(line.substr(line.find('=') + 1)).c_str(), "%u,%u,%u", &n[0], &n[1],
                &n[2]);
    for (unsigned i = 0; i < 3; ++i) block_[at + i] = n[i];
  }
  void line(std::string_view line) {
    if (line == "#BEGIN_TB") return begin_block();
    if (line == "#END_TB") return end_block();
    if (line.empty()) return;
    if (line.starts_with("thread block =")) return three(line, 0);
    if (line.starts_with("cluster id =")) return three(line, 3);
    if (line.starts_with("cluster cta =")) return three(line, 6);
    if (line.starts_with("cluster rank =")) {
      block_[9] = static_cast<std::uint32_t>(
          std::strtoul(std::string(line.substr(14)).c_str(), nullptr, 10));
      return;
    }
    if (line.starts_with("warp =")) warps_.emplace_back();
    else if (!line.starts_with("insts =") && !warps_.empty()) warps_.back().emplace_back(line);
  }
  void begin_block() {
    end_block();
    open_ = true;
    block_.assign(10, 0);
  }
  void end_block() {
    if (!open_) return;
    open_ = false;
    ++blocks_;
    for (const std::uint32_t n : block_) word<std::uint32_t>(index_, n);
    word<std::uint32_t>(index_, warps_.size());
    for (const std::vector<std::string>& lines : warps_) warp(lines);
    warps_.clear();
  }
  void warp(const std::vector<std::string>& lines) {
    const std::size_t chunks = (lines.size() + options_.chunk_lines - 1) / options_.chunk_lines;
    for (std::string* to : {&index_, &out_}) {
      word<std::uint32_t>(*to, lines.size());
      word<std::uint32_t>(*to, chunks);
      if (to == &index_) word<std::uint64_t>(*to, out_.size());
    }
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const std::size_t from = chunk * options_.chunk_lines;
      const std::size_t to = std::min(lines.size(), from + options_.chunk_lines);
      std::string text;
      for (std::size_t i = from; i < to; ++i) text += (i > from ? "\n" : "") + lines[i];
      word<std::uint32_t>(index_, to - from);
      const std::string packed = pack(text);
      word<std::uint32_t>(out_, packed.size());
      out_ += packed;
    }
  }
  std::string pack(const std::string& text) const {
    const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                       &ZSTD_freeCCtx);
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress_usingDict(context.get(), packed.data(), packed.size(), text.data(),
                                          text.size(), options_.dictionary.data(),
                                          options_.dictionary.size(), 3));
    return packed;
  }

  TracezOptions options_;
  std::string out_, index_;
  std::vector<std::uint32_t> block_ = std::vector<std::uint32_t>(10);
  std::vector<std::vector<std::string>> warps_;
  std::uint32_t blocks_ = 0;
  bool open_ = false;
};

inline std::string tracez_of(std::string_view text, TracezOptions options = {}) {
  return TracezWriter(text, std::move(options)).bytes();
}

/// The text that an open file stands for. Throws InputError.
inline std::string text_of_tracez(std::FILE* file) {
  accelsim::TracezText from(file);
  std::string out;
  std::vector<char> buffer(std::size_t{1} << 17);
  while (const std::size_t n = from.read(buffer.data(), buffer.size()))
    out.append(buffer.data(), n);
  return out;
}

}  // namespace raddle::test
