#pragma once
// The kernels of the .cu files on the host, by their names.
#include <functional>
#include <string_view>

namespace cupel::burn::on_host {

struct Kernel {
  std::string_view name{};
  bool strides = false;  // does all of the work whatever the grid
  /// One thread's work with these arguments, which are copied.
  std::function<std::function<void()>(void** values)> with{};
};

/// Nullptr: none of this name. That of sm_kernels.cu, for tensor cores, is not among them.
const Kernel* kernel(std::string_view name);

}  // namespace cupel::burn::on_host
