#include "burnin/agent/burn/nccl.h"

#include "burnin/agent/burn/library_places.h"

namespace cupel::burn::nccl {
namespace {

constexpr int kOldest = 21400;  // ncclCommInitRankConfig is there since 2.14
constexpr int kNextMajor = 30000;
constexpr std::array<std::string_view, 1> kNames{"libnccl.so.2"};

template <class Function>
bool find(const agent::SharedLibrary& library, const char* name, Function*& function,
          std::string& missing) {
  function = reinterpret_cast<Function*>(library.find(name));
  if (function == nullptr) missing += (missing.empty() ? "" : ", ") + std::string{name};
  return function != nullptr;
}

/// Names of what is not there; empty: all is.
std::string find_all(const agent::SharedLibrary& library, Calls& calls) {
  std::string missing;
  find(library, "ncclGetVersion", calls.ncclGetVersion, missing);
  find(library, "ncclGetErrorString", calls.ncclGetErrorString, missing);
  find(library, "ncclGetLastError", calls.ncclGetLastError, missing);
  find(library, "ncclGetUniqueId", calls.ncclGetUniqueId, missing);
  find(library, "ncclCommInitRankConfig", calls.ncclCommInitRankConfig, missing);
  find(library, "ncclCommGetAsyncError", calls.ncclCommGetAsyncError, missing);
  find(library, "ncclCommAbort", calls.ncclCommAbort, missing);
  find(library, "ncclCommDestroy", calls.ncclCommDestroy, missing);
  find(library, "ncclGroupStart", calls.ncclGroupStart, missing);
  find(library, "ncclGroupEnd", calls.ncclGroupEnd, missing);
  find(library, "ncclAllReduce", calls.ncclAllReduce, missing);
  find(library, "ncclAllGather", calls.ncclAllGather, missing);
  find(library, "ncclReduceScatter", calls.ncclReduceScatter, missing);
  find(library, "ncclBroadcast", calls.ncclBroadcast, missing);
  find(library, "ncclSend", calls.ncclSend, missing);
  find(library, "ncclRecv", calls.ncclRecv, missing);
  return missing;
}

}  // namespace

std::string version_text(int code) {
  const int scale = code < 10000 ? 1000 : 10000;
  return std::to_string(code / scale) + "." + std::to_string(code % scale / 100) + "." +
         std::to_string(code % 100);
}

Result<void> Library::take(const agent::SharedLibrary& library) {
  const auto unfit = [&library](const std::string& why) {
    return Error{Code::kUnsupported, library.path() + why};
  };
  auto calls = std::make_shared<Calls>();
  // The version first: it says more than the name of what an old library lacks.
  std::string missing;
  int version = 0;
  const bool tells = find(library, "ncclGetVersion", calls->ncclGetVersion, missing) &&
                     calls->ncclGetVersion(&version) == kSuccess;
  if (!tells) return unfit(" does not report its version");
  if (version < kOldest || version >= kNextMajor)
    return unfit(" is NCCL " + version_text(version) +
                 "; this program needs 2.14 or later, of major version 2");
  missing = find_all(library, *calls);
  if (!missing.empty()) return unfit(" (NCCL " + version_text(version) + ") lacks " + missing);
  calls_ = std::move(calls);
  version_ = version;
  path_ = library.path();
  return ok();
}

Outcome<Library> Library::load(std::span<const std::string> candidates) {
  Library library;
  const auto opened = agent::SharedLibrary::open(
      candidates, [&library](const auto& found) { return library.take(found); });
  if (opened) return library;
  return Failure{.code = "no-library",
                 .message = "no usable " + std::string{kNames[0]} + ": " + opened.error().what +
                            "; install NCCL on the node, or put the library into lib/ beside "
                            "cupel-burn"};
}

Outcome<> Library::check(Status status, std::string_view call, Comm comm) const {
  if (status == kSuccess || status == kInProgress) return done();
  const auto text = [](const char* words) { return std::string{words == nullptr ? "" : words}; };
  auto message = std::string{call} + ": " + text(calls_->ncclGetErrorString(status));
  const auto last = text(calls_->ncclGetLastError(comm));
  if (!last.empty()) message += " (" + last.substr(0, 400) + ")";
  return Failure{.code = "nccl", .message = message};
}

std::vector<std::string> usual_places(std::string_view folder) {
  return library_places(kNames, folder);
}

}  // namespace cupel::burn::nccl
