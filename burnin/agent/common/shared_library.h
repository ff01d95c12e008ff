#pragma once
// A shared library that a node may have or not, opened when it is needed: NVML, cuBLASLt, NCCL.
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::agent {

class SharedLibrary {
 public:
  /// Why a library that opens cannot be used.
  using Check = std::function<Result<void>(const SharedLibrary&)>;

  /// The first of `candidates` that opens and passes `fits`; one that does not is closed again. A
  /// plain name is searched by the node's loader, a path is opened as it is. It stays open until
  /// the program ends: a driver's library has threads of its own. Errors: kNotFound, with what was
  /// wrong with each candidate.
  static Result<SharedLibrary> open(std::span<const std::string> candidates,
                                    const Check& fits = {});

  /// Null where the library does not have it.
  void* find(const char* name) const;
  /// Errors: kUnsupported.
  Result<void*> symbol(const char* name) const;

  /// Sets `function` to the library's; it keeps its type. Errors: kUnsupported.
  template <class Function>
  Result<void> load(Function*& function, const char* name) const {
    TRY(void* found, symbol(name));
    function = reinterpret_cast<Function*>(found);
    return ok();
  }

  /// The candidate that was opened.
  const std::string& path() const { return path_; }

 private:
  SharedLibrary(void* handle, std::string path) : handle_{handle}, path_{std::move(path)} {}

  void* handle_;
  std::string path_;
};

/// The folder of the running program; "." where it cannot be read.
std::string program_folder();

}  // namespace cupel::agent
