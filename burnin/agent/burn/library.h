#pragma once
// A shared library that may be on a node or not, opened when it is needed: NVML, cuBLASLt, NCCL.
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "burnin/agent/burn/failure.h"

namespace cupel::burn {

class Library {
 public:
  /// Why a library that opens cannot be used. Errors: no-library.
  using Check = std::function<Outcome<>(const Library&)>;

  /// The first of `names` that opens and passes `fits`: as the node's loader finds it, then in lib/
  /// beside this program, then where CUDA toolkits lie. Stays open: closing a driver's library is
  /// not safe. Errors: no-library, with what was wrong with each.
  static Outcome<Library> open(std::span<const std::string_view> names, const Check& fits = {});

  /// Errors: no-library.
  Outcome<void*> symbol(const char* name) const;

  /// Sets `function` to the library's; it keeps its type.
  template <class Function>
  Outcome<> load(Function*& function, const char* name) const {
    TRY(void* found, symbol(name));
    function = reinterpret_cast<Function*>(found);
    return done();
  }

  const std::string& name() const { return name_; }

 private:
  void* handle_ = nullptr;
  std::string name_;
};

/// The folder in which this program lies.
std::string program_folder();

}  // namespace cupel::burn
