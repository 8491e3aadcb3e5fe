// GET of a key-value store: one thread per request. See README.md.
#include "common/cuda_lite.h"

// Header of an item; its key and then its value follow. 48 bytes, as memcached's.
struct Item {
  unsigned next;  // of the chain: offset in the arena, 0 = none
  unsigned lru_next, lru_previous;
  unsigned time;     // of the last access
  unsigned expires;  // 0 = never
  unsigned value_bytes;
  unsigned references;
  unsigned key_bytes;
  unsigned flags;
  unsigned slab_class;
  unsigned version_low, version_high;
};

struct Result {
  unsigned found;  // 0: the rest is 0 too
  unsigned item;   // offsets in the arena
  unsigned value;
  unsigned value_bytes;
};

static __device__ __forceinline__ unsigned rotate(unsigned x, unsigned by) {
  return x << by | x >> (32 - by);
}

// Four bytes wherever they are: byte by byte, as a key has no alignment.
static __device__ __forceinline__ unsigned word_at(const unsigned char* bytes) {
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<unsigned>(bytes[3]) << 24;
}

// Bob Jenkins' lookup3 (hashlittle with initial value 0), which memcached uses.
static __device__ __forceinline__ unsigned hash_key(const unsigned char* key, unsigned length) {
  unsigned a = 0xdeadbeef + length, b = a, c = a;
#pragma unroll 1
  for (; length > 12; length -= 12, key += 12) {
    a += word_at(key), b += word_at(key + 4), c += word_at(key + 8);
    a -= c, a ^= rotate(c, 4), c += b;
    b -= a, b ^= rotate(a, 6), a += c;
    c -= b, c ^= rotate(b, 8), b += a;
    a -= c, a ^= rotate(c, 16), c += b;
    b -= a, b ^= rotate(a, 19), a += c;
    c -= b, c ^= rotate(b, 4), b += a;
  }
  // The last 1 to 12 bytes; lanes differ in how many.
  for (unsigned i = 0; i < 12; ++i) {
    unsigned byte = i < length ? static_cast<unsigned>(key[i]) << i % 4 * 8 : 0;
    if (i < 4) a += byte;
    else if (i < 8) b += byte;
    else c += byte;
  }
  c ^= b, c -= rotate(b, 14);
  a ^= c, a -= rotate(c, 11);
  b ^= a, b -= rotate(a, 25);
  c ^= b, c -= rotate(b, 16);
  a ^= c, a -= rotate(c, 4);
  b ^= a, b -= rotate(a, 14);
  c ^= b, c -= rotate(b, 24);
  return c;
}

// The item of a key, 0 when there is none.
static __device__ __forceinline__ unsigned find(const unsigned char* arena, const unsigned* bucket,
                                                unsigned bucket_mask, const unsigned char* key,
                                                unsigned length) {
  unsigned at = bucket[hash_key(key, length) & bucket_mask];
  while (at != 0) {
    const Item* item = reinterpret_cast<const Item*>(arena + at);
    if (item->key_bytes == length) {
      const unsigned char* stored = arena + at + sizeof(Item);
      unsigned same = 0;
#pragma unroll 1
      while (same < length && stored[same] == key[same]) ++same;
      if (same == length) return at;
    }
    at = item->next;
  }
  return 0;
}

// Request r is the text "get KEY\r\n" at request + r * slot_bytes.
extern "C" __global__ void memc_get(const unsigned char* request, unsigned char* arena,
                                    const unsigned* bucket, Result* result, unsigned requests,
                                    unsigned slot_bytes, unsigned bucket_mask, unsigned now) {
  unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= requests) return;
  const unsigned char* text = request + r * slot_bytes;
  Result answer = {0, 0, 0, 0};
  if (text[0] == 'g' && text[1] == 'e' && text[2] == 't' && text[3] == ' ') {
    const unsigned char* key = text + 4;
    unsigned length = 0;
#pragma unroll 1
    while (length < slot_bytes - 4 && key[length] != '\r') ++length;
    unsigned at = find(arena, bucket, bucket_mask, key, length);
    Item* item = reinterpret_cast<Item*>(arena + at);
    if (at != 0 && (item->expires == 0 || item->expires > now)) {
      answer = {1, at, at + static_cast<unsigned>(sizeof(Item)) + length, item->value_bytes};
      item->time = now;
    }
  }
  result[r] = answer;
}
