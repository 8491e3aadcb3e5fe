// A picture of a few spheres over a plane, by rays that are reflected. See README.md.
#include "common/cuda_lite.h"
#include "raytrace/scene.h"

extern "C" {
/// Rows: forward, up, right in x, y, z; the eye in w.
__constant__ float4 raytrace_camera[3];
__constant__ SceneObject raytrace_objects[kObjects];
}

struct Vector {
  float x, y, z;
};

static __device__ __forceinline__ Vector operator+(Vector a, Vector b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
static __device__ __forceinline__ Vector operator-(Vector a, Vector b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
static __device__ __forceinline__ Vector operator*(Vector a, float s) {
  return {a.x * s, a.y * s, a.z * s};
}
static __device__ __forceinline__ float dot(Vector a, Vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
static __device__ __forceinline__ Vector unit(Vector a) { return a * rsqrtf(dot(a, a)); }
static __device__ __forceinline__ Vector xyz(float4 a) { return {a.x, a.y, a.z}; }
static __device__ __forceinline__ Vector up() { return unit({0.0f, 1.0f, 0.0f}); }

struct Ray {
  Vector from, along;
};

// How far along the ray it meets a sphere, from inside or outside; 0 where it does not.
static __device__ __forceinline__ float to_sphere(const Ray& ray, Vector centre, float radius) {
  Vector there = centre - ray.from;
  float nearest = dot(there, ray.along), distance = dot(there, there), square = radius * radius;
  if (nearest < 0.0f && distance > square) return 0.0f;
  float beside = distance - nearest * nearest;
  if (beside > square) return 0.0f;
  float half = sqrtf(square - beside);
  return distance > square ? nearest - half : nearest + half;
}

static __device__ __forceinline__ float to_plane(const Ray& ray, Vector point) {
  Vector normal = up();
  float slope = dot(normal, ray.along);
  if (fabsf(slope) < kFlat) return 0.0f;
  return fmaxf(-dot(normal, ray.from - point) / slope, 0.0f);
}

static __device__ __forceinline__ float to_object(const Ray& ray, const SceneObject& object,
                                                  int plane, float shift) {
  Vector centre = {object.x + shift, object.y, object.z};
  return plane != 0 ? to_plane(ray, centre) : to_sphere(ray, centre, object.radius);
}

// Whether an object stands before the light at `distance` (squared). As in the published program,
// the distance of what is met counts from the origin.
static __device__ __forceinline__ bool in_shadow(Vector point, Vector to_light, float distance,
                                                 float shift) {
  Ray ray = {point + to_light * kOffSurface, to_light};
  float met = 0.0f;
#pragma unroll 1
  for (int j = 0; j < kObjects && met == 0.0f; ++j) {
    const SceneObject& object = raytrace_objects[j];
    met = to_object(ray, object, object.plane, shift);
    if (met > 0.0f) {
      Vector there = point + to_light * met;
      if (dot(there, there) > distance) met = 0.0f;
    }
  }
  return met != 0.0f;
}

static __device__ __forceinline__ float reciprocal(float x) {
  float result;
  __asm__("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// log2 of x > 0 as the sum of two floats: exponent, and the series of the inverse hyperbolic
// tangent for what is left, between 1/sqrt(2) and sqrt(2).
static __device__ __forceinline__ void log2_of(float x, float& high, float& low) {
  bool tiny = x < 0x1p-126f;
  unsigned bits = __float_as_uint(tiny ? x * 0x1p24f : x);
  unsigned exponent = (bits - 0x3f3504f3u) & 0xff800000u;
  float mantissa = __uint_as_float(bits - exponent);
  float power = static_cast<float>(static_cast<int>(exponent)) * 0x1p-23f + (tiny ? -24.0f : 0.0f);
  float above = mantissa - 1.0f, inverse = reciprocal(mantissa + 1.0f);
  float ratio = (above + above) * inverse, square = ratio * ratio;
  float left = (above - ratio) + (above - ratio);
  float rest = __fmul_rn(inverse, fmaf(-ratio, above, left));
  // ln x = r + r^3 / 12 + r^5 / 80 + ..., in units of ln 2.
  float series = fmaf(6.2616970e-4f, square, 3.2202799e-3f);
  series = fmaf(series, square, 1.8033688e-2f);
  series = __fmul_rn(fmaf(series, square, 1.2022459e-1f), square);
  constexpr float kPerNatural = 1.44269504f, kMore = 1.925963033e-8f;
  float sum = fmaf(ratio, kPerNatural, power);
  float small = fmaf(ratio, kPerNatural, power - sum);
  small = fmaf(rest, kPerNatural, small);
  small = fmaf(ratio, kMore, small);
  small = fmaf(series * 3.0f, rest, small);
  small = fmaf(series, ratio, small);
  high = __fadd_rn(sum, small);
  low = __fadd_rn(small, -__fadd_rn(high, -sum));
}

// x^y for 0 <= x <= 1 and y > 0, as exact as CUDA's powf and about as long.
static __device__ __forceinline__ float power_of(float x, float y) {
  float high = 0.0f, low = 0.0f;
  log2_of(fabsf(x), high, low);
  float product = __fmul_rn(high, y);
  float error = fmaf(low, y, fmaf(high, y, -product));
  float whole = __builtin_rintf(product);
  float part = (product - whole) + error;
  // Powers of ln 2 over factorials.
  float result = fmaf(1.5403530e-4f, part, 1.3333558e-3f);
  result = fmaf(result, part, 9.6181291e-3f);
  result = fmaf(result, part, 5.5504109e-2f);
  result = fmaf(result, part, 2.4022651e-1f);
  result = fmaf(result, part, 6.9314718e-1f);
  result = fmaf(result, part, 1.0f);
  // In two steps, so that neither leaves the range.
  int bias = whole > 0.0f ? 0 : -0x7d000000;
  float first = __uint_as_float(static_cast<unsigned>(bias + 0x7f000000));
  int exponent = (static_cast<int>(whole) << 23) - bias;
  result = result * first * __uint_as_float(static_cast<unsigned>(exponent));
  if (fabsf(product) > 152.0f) result = product < 0.0f ? 0.0f : __builtin_inff();
  // Other numbers than a power of this program has, which powf looks for nevertheless.
  float magnitude = fabsf(x);
  if (x == 1.0f) return 1.0f;
  if (!(magnitude <= __builtin_inff())) return x + y;
  if (x == 0.0f || magnitude == __builtin_inff()) return fabsf(x + x);
  if (x < 0.0f) return apart(-result);
  return result;
}

// Keeps a store to an array of the thread.
static __device__ __forceinline__ void stored(const float4* at) {
  __asm__ volatile("" : : "l"(at) : "memory");
}

static __device__ __forceinline__ unsigned level(float share) {
  return static_cast<unsigned>(__saturatef(share) * 255.0f);
}

static __device__ __forceinline__ unsigned packed(const float4& colour) {
  return level(colour.w) << 24 | level(colour.z) << 16 | level(colour.y) << 8 | level(colour.x);
}

static __device__ __forceinline__ Ray ray_of_pixel(unsigned x, unsigned y, unsigned width,
                                                   unsigned height, float focus) {
  float pixel = 2.0f / static_cast<float>(width < height ? width : height);
  float4 forward = raytrace_camera[0], upward = raytrace_camera[1], right = raytrace_camera[2];
  float beside = static_cast<float>(x) - static_cast<float>(width) * 0.5f;
  float above = static_cast<float>(y) - static_cast<float>(height) * 0.5f;
  Vector along = xyz(forward) * focus + xyz(right) * beside * pixel + xyz(upward) * above * pixel;
  return {{forward.w, upward.w, right.w}, unit(along)};
}

// The colour of a point that the ray has met goes to `shade`; the ray becomes the reflected one.
static __device__ __forceinline__ void meet(Ray& ray, float distance, int met, float shift,
                                            float4& shade) {
  const SceneObject& object = raytrace_objects[met];
  float4 colour = {object.red, object.green, object.blue, object.alpha};
  constexpr Vector kLight = {kLightAt, kLightAt, kLightAt};
  Vector point = ray.from + ray.along * distance;
  Vector light = kLight - point;
  float light_distance = dot(light, light);
  Vector to_light = unit(light), to_eye = unit(ray.from - point);
  Vector centre = {object.x + shift, object.y, object.z};
  Vector normal = object.plane != 0 ? up() : unit(point - centre);
  float facing = dot(to_eye, normal);
  Vector outward = facing < 0.0f ? normal * -1.0f : normal;
  float4 ambient = {kAmbient * colour.x, kAmbient * colour.y, kAmbient * colour.z,
                    kAmbient * colour.w};
  shade = ambient;
  float lit = dot(outward, to_light);
  if (lit > 0.0f && !in_shadow(point, to_light, light_distance, shift)) {
    Vector between = unit(to_light + to_eye);
    float share = fminf(1.0f, lit);
    float4 sum = {ambient.x + kDiffuse * colour.x * share, ambient.y + kDiffuse * colour.y * share,
                  ambient.z + kDiffuse * colour.z * share, ambient.w + kDiffuse * colour.w * share};
    shade = sum;
    stored(&shade);  // as in the published program, which stores here and once more below
    float cosine = fmaxf(0.0f, fminf(1.0f, dot(outward, between)));
    float highlight = kHighlight * power_of(cosine, kShininess);
    float* parts = reinterpret_cast<float*>(&shade);
    parts[0] = sum.x + highlight;
    parts[1] = sum.y + highlight;
    parts[2] = sum.z + highlight;
  }
  ray.along = unit(normal * 2.0f * facing - to_eye);
  ray.from = point + ray.along * kOffSurface;
}

// The numbers are masked to 24 bits, of which no launch has more.
static __device__ __forceinline__ unsigned numbered(unsigned block, unsigned size,
                                                    unsigned thread) {
  return (block & 0xffffffu) * (size & 0xffffffu) + static_cast<unsigned>(unknown(thread));
}
static __device__ __forceinline__ unsigned column_of_thread() {
  return numbered(blockIdx.x, blockDim.x, threadIdx.x);
}
static __device__ __forceinline__ unsigned row_of_thread() {
  return numbered(blockIdx.y, blockDim.y, threadIdx.y);
}

// One thread per pixel. What each bounce adds waits in an array of the thread, which is in local
// memory as its index is not known, and is summed from the last to the first.
extern "C" __global__ void raytrace(unsigned* picture, unsigned width, unsigned height, float shift,
                                    float focus) {
  unsigned x = column_of_thread(), y = row_of_thread();
  float4 shades[kBounces];
#pragma unroll
  for (int i = 0; i < kBounces; ++i) shades[i] = {0.0f, 0.0f, 0.0f, 1.0f};
  if (x >= width || y >= height) return;
  picture[x + y * width] = 0;
  Ray ray = ray_of_pixel(x, y, width, height, focus);
  __syncthreads();
  int bounces = 0;
#pragma unroll 1
  for (int i = 0; i < kBounces && bounces == i; ++i) {
    float distance = kFar;
    int met = 0;
#pragma unroll
    for (int j = 0; j < kObjects; ++j) {
      // What kind it is, is read for each ray, as by the published program.
      int plane = raytrace_objects[unknown(j)].plane;
      float there = to_object(ray, raytrace_objects[j], plane, shift);
      if (there > 0.0f && there < distance) {
        distance = there;
        met = j;
      }
    }
    if (distance > 0.0f && distance < kFar) {
      ++bounces;
      meet(ray, distance, met, shift, shades[i]);
    }
  }
#pragma unroll 1
  for (int i = bounces - 1; i > 0; --i) {
    shades[i - 1].x += kReflected * shades[i].x;
    shades[i - 1].y += kReflected * shades[i].y;
    shades[i - 1].z += kReflected * shades[i].z;
    shades[i - 1].w += kReflected * shades[i].w;
  }
  // Where the pixel is, is found anew rather than held, as by the published program.
  picture[column_of_thread() + row_of_thread() * width] += packed(shades[0]);
}
