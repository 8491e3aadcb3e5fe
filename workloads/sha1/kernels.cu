// SHA-1 of windows that slide over a text, the words of a window in shared memory. See README.md.
#include "common/cuda_lite.h"

constexpr unsigned kWords = 16;  // of a message block
constexpr unsigned kWarp = 32;
constexpr unsigned kRounds = 80;
// As published: 128 bytes less than 16 KB, whatever the threads need. It decides how many blocks an
// SM holds.
constexpr unsigned kSharedWords = 4 * 1024 - 32;

// The words of a thread: lanes lie side by side, each in its bank. They are volatile because they
// are in shared memory on purpose: a compiler that may keeps them in a hundred registers.
struct Message {
  volatile unsigned* first;
  __device__ __forceinline__ volatile unsigned& operator[](unsigned word) const {
    return first[kWarp * word];
  }
  __device__ __forceinline__ void set_big_endian(unsigned word, unsigned value) const {
    volatile auto* bytes = reinterpret_cast<volatile unsigned char*>(first + kWarp * word);
    bytes[0] = static_cast<unsigned char>(value >> 24);
    bytes[1] = static_cast<unsigned char>(value >> 16);
    bytes[2] = static_cast<unsigned char>(value >> 8);
    bytes[3] = static_cast<unsigned char>(value);
  }
  __device__ __forceinline__ unsigned big_endian(unsigned word) const {
    const volatile auto* bytes =
        reinterpret_cast<const volatile unsigned char*>(first + kWarp * word);
    unsigned value = static_cast<unsigned>(bytes[0]) << 24;
    value |= static_cast<unsigned>(bytes[1]) << 16;
    value |= static_cast<unsigned>(bytes[2]) << 8;
    return value | bytes[3];
  }
};

// The words from `from` on, the end of the message: what is left of it, a one, zeros and its length
// in bits. All are bytes in the order of the text; so are the words of big_endian().
static __device__ __forceinline__ void load_end(const Message& message, const unsigned* text,
                                                unsigned length, unsigned from) {
  const int zeros = static_cast<int>(kWords - 3 - (length / 4 - from));
#pragma unroll 1
  for (int i = 0; i < zeros; ++i) message[13 - static_cast<unsigned>(i)] = 0;
#pragma unroll 4
  for (unsigned i = from; i < length / 4; ++i) message[i - from] = text[i];
  message[13 - static_cast<unsigned>(zeros)] = 0x80;
  message.set_big_endian(14, length >> 29);
  message.set_big_endian(15, length << 3);
}

static __device__ __forceinline__ unsigned rotate(unsigned x, unsigned by) {
  return (x << by) | (x >> (32 - by));
}

struct Digest {
  unsigned a, b, c, d, e;
};

// What a round adds to e besides the rotated a and the word: the standard's functions and numbers.
static __device__ __forceinline__ unsigned mixed(const Digest& s, unsigned round) {
  if (round < 20) return (s.d ^ (s.b & (s.c ^ s.d))) + 0x5a827999u;
  if (round < 40) return (s.b ^ s.c ^ s.d) + 0x6ed9eba1u;
  if (round < 60) return ((s.b & s.c) | (s.d & (s.b | s.c))) + 0x8f1bbcdcu;
  return (s.b ^ s.c ^ s.d) + 0xca62c1d6u;
}

// The schedule is a ring of 16 words: from round 16 on a word is made of four of the last sixteen.
static __device__ __forceinline__ unsigned scheduled(const Message& message, unsigned round) {
  if (round < kWords) return message[round];
  unsigned word = message[(round - 3) % kWords] ^ message[(round - 8) % kWords];
  word ^= message[(round - 14) % kWords];
  word ^= message[round % kWords];
  word = rotate(word, 1);
  message[round % kWords] = word;
  return word;
}

static __device__ __forceinline__ void digest_block(const Message& message, Digest& digest) {
  Digest s = digest;
#pragma unroll
  for (unsigned round = 0; round < kRounds; ++round) {
    unsigned next = rotate(s.a, 5) + mixed(s, round) + s.e + scheduled(message, round);
    s = {next, s.a, rotate(s.b, 30), s.c, s.d};
  }
  digest = {digest.a + s.a, digest.b + s.b, digest.c + s.c, digest.d + s.d, digest.e + s.e};
}

// Thread = window of `length` bytes (12 less than a multiple of 64), the next `step` bytes further
// on. Of a digest the first word is kept, its highest byte first.
extern "C" __global__ void sha1_windows(const unsigned char* text, unsigned length, unsigned step,
                                        unsigned windows, unsigned char* digests) {
  __shared__ unsigned words[kSharedWords];
  unsigned window = blockIdx.x * blockDim.x + threadIdx.x;
  if (window >= windows) return;
  Message message = {words + threadIdx.x / kWarp * (kWords * kWarp) + threadIdx.x % kWarp};
  const unsigned* own = reinterpret_cast<const unsigned*>(text + window * step);
  Digest digest = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
  const unsigned last = length / 64;
#pragma unroll 1
  for (unsigned block = 0; block <= last; ++block) {
    if (block == last) {
      load_end(message, own, length, kWords * block);
    } else {
#pragma unroll
      for (unsigned i = 0; i < kWords; ++i) message[i] = own[kWords * block + i];
    }
#pragma unroll
    for (unsigned i = 0; i < kWords; ++i) message[i] = message.big_endian(i);
    digest_block(message, digest);
  }
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
    digests[4 * window + i] = static_cast<unsigned char>(digest.a >> (24 - 8 * i));
}
