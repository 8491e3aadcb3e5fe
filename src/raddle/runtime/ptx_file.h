// A kernel of the user's own: any PTX file as a workload, without host code and without a check.
#pragma once
#include <string>
#include <vector>

#include "raddle/exec/device/device_runtime.h"
#include "raddle/runtime/workload.h"

namespace raddle::runtime {

/// The text of a PTX file. Throws InputError when it cannot be read, or is too large to be one.
std::string read_ptx(const std::string& path);

/// Arguments are "value:type" (4:u32, -1:s64, 1.5:f32, 2:f64) or "buf:BYTES" (a zeroed buffer; its
/// address is passed), "file:PATH" (a buffer with the file's bytes).
class PtxFileWorkload final : public Workload {
 public:
  /// Reads the file. Throws InputError when it cannot be read.
  explicit PtxFileWorkload(std::string path);
  void set_size(Size) override {}
  void visit(FieldVisitor& v) override;
  void run(Device& device, std::uint64_t seed) override;
  std::string check() override { return ""; }
  bool checked() const override { return false; }
  std::uint64_t input_hash() const override { return hash_; }

 private:
  void add_argument(Device& device, Arguments& out, const std::string& text) const;
  std::string path_, text_, kernel_, grid_ = "1", block_ = "32", args_;
  std::uint32_t shared_bytes_ = 0, repeat_ = 1;
  std::uint64_t pending_launches_ = exec::kPendingLaunches;
  std::uint64_t hash_ = 0;
};

}  // namespace raddle::runtime
