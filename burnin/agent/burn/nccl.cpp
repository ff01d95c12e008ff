#include "burnin/agent/burn/nccl.h"

#include <dlfcn.h>

namespace cupel::burn::nccl {
namespace {

constexpr int kOldest = 21400;  // ncclCommInitRankConfig is there since 2.14
constexpr int kNextMajor = 30000;
constexpr const char* kName = "libnccl.so.2";

struct Closes {
  void operator()(void* handle) const {
    if (handle != nullptr) dlclose(handle);
  }
};

Failure none(std::string why) { return {.code = "no-library", .message = std::move(why)}; }

template <class Function>
bool find(void* handle, const char* name, Function*& function, std::string& missing) {
  function = reinterpret_cast<Function*>(dlsym(handle, name));
  if (function == nullptr) missing += (missing.empty() ? "" : ", ") + std::string{name};
  return function != nullptr;
}

/// Names of what is not there; empty: all is.
std::string find_all(void* handle, Calls& calls) {
  std::string missing;
  find(handle, "ncclGetVersion", calls.ncclGetVersion, missing);
  find(handle, "ncclGetErrorString", calls.ncclGetErrorString, missing);
  find(handle, "ncclGetLastError", calls.ncclGetLastError, missing);
  find(handle, "ncclGetUniqueId", calls.ncclGetUniqueId, missing);
  find(handle, "ncclCommInitRankConfig", calls.ncclCommInitRankConfig, missing);
  find(handle, "ncclCommGetAsyncError", calls.ncclCommGetAsyncError, missing);
  find(handle, "ncclCommAbort", calls.ncclCommAbort, missing);
  find(handle, "ncclCommDestroy", calls.ncclCommDestroy, missing);
  find(handle, "ncclGroupStart", calls.ncclGroupStart, missing);
  find(handle, "ncclGroupEnd", calls.ncclGroupEnd, missing);
  find(handle, "ncclAllReduce", calls.ncclAllReduce, missing);
  find(handle, "ncclAllGather", calls.ncclAllGather, missing);
  find(handle, "ncclReduceScatter", calls.ncclReduceScatter, missing);
  find(handle, "ncclBroadcast", calls.ncclBroadcast, missing);
  find(handle, "ncclSend", calls.ncclSend, missing);
  find(handle, "ncclRecv", calls.ncclRecv, missing);
  return missing;
}

}  // namespace

std::string version_text(int code) {
  const int scale = code < 10000 ? 1000 : 10000;
  return std::to_string(code / scale) + "." + std::to_string(code % scale / 100) + "." +
         std::to_string(code % 100);
}

Outcome<> Library::take(const std::filesystem::path& path) {
  const std::unique_ptr<void, Closes> opened{dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)};
  if (opened == nullptr) {
    const char* why = dlerror();
    return none(why == nullptr ? path.string() + " cannot be opened" : why);
  }
  auto calls = std::make_shared<Calls>();
  // The version first: it says more than the name of what an old library lacks.
  std::string missing;
  int version = 0;
  const bool tells = find(opened.get(), "ncclGetVersion", calls->ncclGetVersion, missing) &&
                     calls->ncclGetVersion(&version) == kSuccess;
  if (!tells) return none(path.string() + " does not tell its version");
  if (version < kOldest || version >= kNextMajor)
    return none(path.string() + " is NCCL " + version_text(version) +
                "; this program wants 2.14 or later, of major version 2");
  missing = find_all(opened.get(), *calls);
  if (!missing.empty())
    return none(path.string() + " (NCCL " + version_text(version) + ") lacks " + missing);
  // Opened once more and never closed.
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) == nullptr)
    return none(path.string() + " cannot be kept open");
  calls_ = std::move(calls);
  version_ = version;
  path_ = path.string();
  return done();
}

Outcome<Library> Library::load(std::span<const std::filesystem::path> candidates) {
  std::string why;
  for (const auto& path : candidates) {
    Library library;
    const auto taken = library.take(path);
    if (taken) return library;
    why += (why.empty() ? "" : "; ") + taken.error().message;
  }
  return none("no usable " + std::string{kName} + ": " + why +
              "; install NCCL on the node, or put the library into lib/ beside cupel-burn");
}

Outcome<> Library::check(Status status, std::string_view call, Comm comm) const {
  if (status == kSuccess) return done();
  const auto text = [](const char* words) { return std::string{words == nullptr ? "" : words}; };
  auto message = std::string{call} + ": " + text(calls_->ncclGetErrorString(status));
  const auto last = text(calls_->ncclGetLastError(comm));
  if (!last.empty()) message += " (" + last.substr(0, 400) + ")";
  return Failure{.code = "nccl", .message = message};
}

std::vector<std::filesystem::path> usual_places(const std::filesystem::path& program_folder) {
  return {kName, program_folder / "lib" / kName,
          std::filesystem::path{"/usr/local/cuda/lib64"} / kName,
          std::filesystem::path{"/usr/local/cuda/lib"} / kName};
}

}  // namespace cupel::burn::nccl
