// Host code of sha1: the SHA-1 digest of every window of a text. See README.md.
#include <array>
#include <bit>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kBlockBytes = 64;   // of a message
constexpr std::uint32_t kEndBytes = 12;     // a word with the one after the text, two of its length
constexpr std::uint32_t kMaxThreads = 224;  // seven warps' words are in the shared memory

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

// FIPS 180-4, 6.1.2: adds a block of 64 bytes to a digest.
void add_block(std::array<std::uint32_t, 5>& digest, const std::uint8_t* bytes) {
  std::array<std::uint32_t, 80> words;
  for (std::size_t t = 0; t < 16; ++t) words[t] = big_endian(bytes + 4 * t);
  for (std::size_t t = 16; t < 80; ++t)
    words[t] = std::rotl(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1);
  auto [a, b, c, d, e] = digest;
  for (std::size_t t = 0; t < 80; ++t) {
    std::uint32_t choice = (b & c) | (~b & d), parity = b ^ c ^ d;
    std::uint32_t majority = (b & c) | (b & d) | (c & d);
    std::uint32_t f = t < 20 ? choice : t >= 40 && t < 60 ? majority : parity;
    constexpr std::uint32_t kAdded[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    std::uint32_t next = std::rotl(a, 5) + f + e + kAdded[t / 20] + words[t];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const std::array<std::uint32_t, 5> added = {a, b, c, d, e};
  for (std::size_t i = 0; i < 5; ++i) digest[i] += added[i];
}

// The digest's first word.
std::uint32_t sha1(const std::uint8_t* text, std::size_t length) {
  std::vector<std::uint8_t> message(text, text + length);
  message.push_back(0x80);
  message.resize((length + 8) / kBlockBytes * kBlockBytes + kBlockBytes - 8);
  for (int shift = 56; shift >= 0; shift -= 8)
    message.push_back(static_cast<std::uint8_t>(std::uint64_t{length} * 8 >> shift));
  std::array<std::uint32_t, 5> digest = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
                                         0xc3d2e1f0};
  for (std::size_t at = 0; at < message.size(); at += kBlockBytes)
    add_block(digest, message.data() + at);
  return digest[0];
}

class Sha1 final : public HashedWorkload {
 public:
  void set_size(Size size) override { windows_ = size == Size::Tiny ? 250 : 49'152; }

  void visit(FieldVisitor& v) override {
    v.field("windows", windows_, {1, 1u << 24}, "windows", "windows, each with its digest");
    v.field("length", length_, {4, 1u << 20}, "bytes",
            "length of a window, a multiple of 4; the end of the message fits its last block");
    v.field("step", step_, {4, 1u << 20}, "bytes", "from window to window, a multiple of 4");
    v.field("block", block_, {1, kMaxThreads}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    for (auto [name, value] : {std::pair("length", length_), std::pair("step", step_)})
      if (value % 4 != 0)
        all.push_back(std::string(name) + " must be a multiple of 4, is " + std::to_string(value));
    if (length_ % kBlockBytes > kBlockBytes - kEndBytes)
      all.push_back("length modulo 64 must not exceed 52, length is " + std::to_string(length_));
    if (text_bytes() > 1u << 30)
      all.push_back("windows * step + length must not exceed 2^30, is " +
                    std::to_string(text_bytes()));
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    Rng rng(seed, "sha1/text");
    std::vector<std::uint32_t> words(text_bytes() / 4);
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(rng.next());
    inputs_.add(words, length_);
    for (std::uint32_t word : words)
      for (int shift = 0; shift < 32; shift += 8)
        text_.push_back(static_cast<std::uint8_t>(word >> shift));

    KernelId kernel = device.kernel(load_module(device, "sha1"), "sha1_windows");
    DeviceArray<std::uint8_t> text(device, text_), digests(device, 4 * std::size_t{windows_});
    device.launch(kernel, {blocks_for(windows_, block_)}, {block_},
                  Arguments(text.address(), length_, step_, windows_, digests.address()));
    device.synchronize();
    digests_ = device.download<std::uint32_t>(digests.address(), windows_);
  }

  // Exact. Bytes of a digest come in the standard's order.
  std::string check() override {
    std::vector<std::uint32_t> expected, got;
    for (std::size_t window = 0; window < windows_; ++window) {
      expected.push_back(sha1(text_.data() + window * step_, length_));
      got.push_back(big_endian(reinterpret_cast<const std::uint8_t*>(&digests_[window])));
    }
    return first_difference("digest", expected, got);
  }

 private:
  std::uint64_t text_bytes() const { return std::uint64_t{windows_ - 1} * step_ + length_; }

  std::uint32_t windows_ = 0, length_ = kBlockBytes - kEndBytes, step_ = 4, block_ = 128;
  std::vector<std::uint8_t> text_;
  std::vector<std::uint32_t> digests_;
};

}  // namespace

void add_workload_sha1(Workloads& w) {
  w.add<Sha1>("sha1", "SHA-1 of sliding windows: arithmetic with its words in shared memory");
}

}  // namespace raddle::runtime
