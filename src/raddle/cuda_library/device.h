// What our libraries for CUDA programs (rooms cublas, ...) share: the device, through the public
// interface of runtime and driver, which the drop-in runtime (room cudart) exports. Nothing of the
// simulator is linked into the libraries.
#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

struct CUstream_st;
struct CUfunc_st;
struct CUmod_st;

namespace raddle::cuda_library {

using Stream = CUstream_st*;

/// Why the device did not do what it was asked for. Each library has its own status for it.
enum class DeviceFailure : int { kNoDevice, kNoMemory, kNoKernel, kWrongMachine, kExecution };

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// Text of a library's PTX file without its ".ptx", ended by NUL; null when there is none.
using Images = const char* (*)(const char* name);

/// Kernels by name, and memory that calls need, of one handle. All of it throws DeviceFailure.
class Device {
 public:
  explicit Device(Images images);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int compute_capability() const { return capability_; }  ///< 80 for 8.0
  int multiprocessors() const { return multiprocessors_; }

  /// `arguments`: where the kernel's parameters lie.
  void launch(const char* module, const std::string& kernel, Dim3 grid, unsigned threads,
              void** arguments, Stream stream);
  /// Memory for what reductions leave in the stream, of kRoomBytes.
  void* room(Stream stream);
  static constexpr std::size_t kRoomBytes = 16 << 10;

 private:
  CUfunc_st* kernel(const char* module, const std::string& name);
  Images images_;
  int capability_ = 0, multiprocessors_ = 1;
  std::mutex mutex_;
  std::map<std::string, CUmod_st*> modules_;
  std::map<std::string, CUfunc_st*> kernels_;
  std::map<Stream, void*> rooms_;
};

/// What a program captures does not forbid what the library does for itself meanwhile.
class OutsideOfCaptures {
 public:
  OutsideOfCaptures();
  ~OutsideOfCaptures();
  OutsideOfCaptures(const OutsideOfCaptures&) = delete;
  OutsideOfCaptures& operator=(const OutsideOfCaptures&) = delete;

 private:
  int mode_ = 2;  // cudaStreamCaptureModeRelaxed, afterwards the thread's
};

/// Throws DeviceFailure when there is too little.
void* allocate(std::size_t bytes);
void release(void* at);
/// Throws DeviceFailure when the bytes cannot be copied, whichever way.
void copy(void* to, const void* from, std::size_t bytes, Stream stream);
void clear(void* at, std::size_t bytes, Stream stream);
void wait(Stream stream);
/// `lines` of `bytes`, so many bytes apart; false when they cannot be copied.
bool copy_lines(void* to, std::size_t to_apart, const void* from, std::size_t from_apart,
                std::size_t bytes, std::size_t lines);
bool copy_lines(void* to, std::size_t to_apart, const void* from, std::size_t from_apart,
                std::size_t bytes, std::size_t lines, Stream stream);

/// Tells the user that the library has no `what`, for which it returns `code`, and lets the run
/// fail.
void lacks(const std::string& what, const char* code);

}  // namespace raddle::cuda_library
