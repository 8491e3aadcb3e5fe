// Host code of digits: four layers, a launch each. See README.md.
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"
#include "digits/network.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class Digits final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    constexpr DigitsShape kShapes[] = {{1, 2, 4}, {4, 50, 100}, {28, 50, 100}};
    shape_ = kShapes[static_cast<std::size_t>(size)];
  }

  void visit(FieldVisitor& v) override {
    v.field("images", shape_.images, {1, 10'000}, "images", "pictures to read");
    v.field("maps", shape_.maps, {1, 1000}, "maps", "maps of 5 x 5 in the second layer");
    v.field("hidden", shape_.hidden, {1, 10'000}, "neurons", "in the third layer");
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "digits");
    DeviceArray<float> pictures(device, pictures_);
    DeviceArray<float> first(device, network_.first), second(device, network_.second);
    DeviceArray<float> third(device, network_.third), fourth(device, network_.fourth);
    std::size_t images = shape_.images;
    DeviceArray<float> maps(device, images * DigitsShape::kMaps * DigitsShape::kMap);
    DeviceArray<float> small(device, images * shape_.small());
    DeviceArray<float> hidden(device, images * shape_.hidden);
    DeviceArray<float> outputs(device, images * DigitsShape::kOutputs);
    auto layer = [&](const char* name, std::uint32_t neurons, Dim3 block, const Arguments& with) {
      device.launch(device.kernel(module, name), {neurons, shape_.images}, block, with);
    };
    layer("digits_first", DigitsShape::kMaps, {13, 13},
          Arguments(pictures.address(), first.address(), maps.address()));
    layer("digits_second", shape_.maps, {5, 5},
          Arguments(maps.address(), second.address(), small.address()));
    layer("digits_third", shape_.hidden, {1},
          Arguments(small.address(), third.address(), hidden.address(), shape_.small()));
    layer("digits_fourth", DigitsShape::kOutputs, {1},
          Arguments(hidden.address(), fourth.address(), outputs.address(), shape_.hidden));
    device.synchronize();
    outputs_ = outputs.download();
  }

  std::string check() override {
    return first_beyond("output", digits_outputs(network_, pictures_), outputs_,
                        [](std::size_t) { return kTolerance; });
  }

 private:
  // Outputs lie between -1.72 and 1.72. Chosen, not derived.
  static constexpr double kTolerance = 1e-4;

  void make_input(std::uint64_t seed) {
    network_ = make_digits_network(shape_, seed);
    pictures_ = make_digits_pictures(shape_.images, seed);
    inputs_.add(pictures_);
    for (const auto* weights :
         {&network_.first, &network_.second, &network_.third, &network_.fourth})
      inputs_.add(*weights);
  }

  DigitsShape shape_;
  DigitsNetwork network_;
  std::vector<float> pictures_, outputs_;
};

}  // namespace

void add_workload_digits(Workloads& w) {
  w.add<Digits>("digits", "neural network that reads digits: blocks of one thread");
}

}  // namespace raddle::runtime
