// Setting a workload's parameters by name, and devices that watch or spoil what passes through
// them.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "raddle/runtime/simulated_device.h"
#include "raddle/runtime/workload.h"

namespace raddle::runtime {

using Parameters = std::map<std::string, std::string, std::less<>>;

/// Sets the named parameters; remembers names that were not met and values out of range.
class ParameterSetter final : public FieldVisitor {
 public:
  explicit ParameterSetter(Parameters wanted) : wanted_(std::move(wanted)) {}
  const Parameters& left() const { return wanted_; }
  const std::vector<std::string>& out_of_range() const { return out_of_range_; }
  const std::vector<std::string>& undocumented() const { return undocumented_; }

  void field(std::string_view name, std::uint32_t& value, Range<std::uint32_t> range,
             std::string_view, std::string_view doc) override {
    number(name, value, range, doc);
  }
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t> range,
             std::string_view, std::string_view doc) override {
    number(name, value, range, doc);
  }
  void field(std::string_view name, double& value, Range<double> range, std::string_view,
             std::string_view doc) override {
    number(name, value, range, doc);
  }
  void field(std::string_view name, bool& value, std::string_view doc) override {
    if (auto text = take(name, doc)) value = *text == "true";
  }
  void field(std::string_view name, std::string& value, std::string_view doc) override {
    if (auto text = take(name, doc)) value = *text;
  }
  void enter(std::string_view, std::string_view) override {}
  void leave() override {}

 protected:
  void choice_index(std::string_view name, std::uint32_t& position,
                    std::span<const std::string_view> names, std::string_view doc) override {
    auto text = take(name, doc);
    if (!text) return;
    position = static_cast<std::uint32_t>(names.size());
    for (std::uint32_t i = 0; i < names.size(); ++i)
      if (names[i] == *text) position = i;
    if (position == names.size()) out_of_range_.emplace_back(name);
  }

 private:
  template <class T>
  void number(std::string_view name, T& value, Range<T> range, std::string_view doc) {
    if (auto text = take(name, doc)) value = static_cast<T>(std::stod(*text));
    if (value < range.low || value > range.high) out_of_range_.emplace_back(name);
  }
  std::optional<std::string> take(std::string_view name, std::string_view doc) {
    if (doc.empty()) undocumented_.emplace_back(name);
    auto at = wanted_.find(name);
    if (at == wanted_.end()) return std::nullopt;
    std::string text = at->second;
    wanted_.erase(at);
    return text;
  }

  Parameters wanted_;
  std::vector<std::string> out_of_range_, undocumented_;
};

/// A workload of `size` with single parameters changed. Throws when one of them does not exist.
inline std::unique_ptr<Workload> make_workload(std::string_view name, const Parameters& parameters,
                                               Size size = Size::Tiny) {
  auto workload = all_workloads().make(name);
  workload->set_size(size);
  ParameterSetter setter(parameters);
  workload->visit(setter);
  if (!setter.left().empty()) throw InputError("no parameter " + setter.left().begin()->first);
  if (!setter.out_of_range().empty())
    throw InputError("out of range: " + setter.out_of_range().front());
  return workload;
}

/// Flip `mask` in 32-bit word `word` of the `download`-th copy to the host (both from 0).
struct Corruption {
  std::size_t download, word;
  std::uint32_t mask;
};

/// A functional device that counts what passes and can spoil one downloaded word or fail one
/// launch.
class WatchedDevice final : public Device {
 public:
  std::optional<Corruption> corruption;
  std::optional<std::size_t> failing_launch;
  std::uint64_t allocated_bytes = 0;  ///< of all allocations, freed or not
  std::vector<std::uint64_t> download_bytes;
  std::vector<std::uint32_t> last_download;  ///< its whole words, as the host got them
  std::size_t launches = 0;
  std::size_t live_allocations = 0;
  std::uint64_t warp_instructions() const {
    std::uint64_t sum = 0;
    for (const LaunchRecord& record : inner_.launches()) sum += record.warp_instructions;
    return sum;
  }

  Address allocate(std::uint64_t bytes) override {
    ++live_allocations;
    allocated_bytes += bytes;
    return inner_.allocate(bytes);
  }
  void free(Address address) override {
    --live_allocations;
    inner_.free(address);
  }
  void copy_to_device(Address to, const void* from, std::uint64_t bytes) override {
    inner_.copy_to_device(to, from, bytes);
  }
  void copy_to_host(void* to, Address from, std::uint64_t bytes) override {
    inner_.copy_to_host(to, from, bytes);
    if (corruption && corruption->download == download_bytes.size()) {
      auto* word = static_cast<std::byte*>(to) + 4 * corruption->word;
      std::uint32_t value;
      std::memcpy(&value, word, 4);
      value ^= corruption->mask;
      std::memcpy(word, &value, 4);
    }
    download_bytes.push_back(bytes);
    last_download.resize(bytes / 4);
    std::memcpy(last_download.data(), to, last_download.size() * 4);
  }
  void copy_on_device(Address to, Address from, std::uint64_t bytes) override {
    inner_.copy_on_device(to, from, bytes);
  }
  void set(Address to, std::uint8_t value, std::uint64_t bytes) override {
    inner_.set(to, value, bytes);
  }
  ModuleId load(std::string ptx, std::string file) override {
    return inner_.load(std::move(ptx), std::move(file));
  }
  KernelId kernel(ModuleId module, std::string_view name) override {
    return inner_.kernel(module, name);
  }
  Address symbol(ModuleId module, std::string_view name) override {
    return inner_.symbol(module, name);
  }
  using Device::launch;
  void launch(KernelId kernel, Dim3 grid, Dim3 block, const Arguments& arguments,
              const LaunchOptions& options) override {
    if (failing_launch == launches++) throw RunError("this launch was made to fail");
    inner_.launch(kernel, grid, block, arguments, options);
  }
  TensorMap tensor_map(const BoxedMatrix& matrix) override { return inner_.tensor_map(matrix); }
  void limit_pending_launches(std::uint64_t n) override { inner_.limit_pending_launches(n); }
  StreamId create_stream() override { return inner_.create_stream(); }
  EventId create_event() override { return inner_.create_event(); }
  void record(EventId event, StreamId stream) override { inner_.record(event, stream); }
  void wait(StreamId stream, EventId event) override { inner_.wait(stream, event); }
  void synchronize() override { inner_.synchronize(); }
  void synchronize(StreamId stream) override { inner_.synchronize(stream); }
  void synchronize(EventId event) override { inner_.synchronize(event); }
  double elapsed_ms(EventId from, EventId to) override { return inner_.elapsed_ms(from, to); }

 private:
  SimulatedDevice inner_{SimulatedDeviceOptions{}};
};

}  // namespace raddle::runtime
