#include "orchestrator/cli/diagnostic_files.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "base/digest.h"
#include "base/file.h"
#include "base/ownership.h"
#include "base/text.h"
#include "base/wall_clock.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kLongestName = 200;

struct Sign {
  std::string_view bytes, extension;
};
/// Sources: RFC 1952, 2.3.1; the .xz file format, 2.1.1; RFC 8878, 3.1.1; APPNOTE.TXT, 4.3.7.
constexpr std::array<Sign, 4> kSigns{{{"\x1f\x8b", ".gz"},
                                      {"\xfd"
                                       "7zXZ",
                                       ".xz"},
                                      {"\x28\xb5\x2f\xfd", ".zst"},
                                      {"PK\x03\x04", ".zip"}}};
constexpr std::size_t kLongestSign = 5;

Error cannot(std::string_view act, const std::string& path) {
  return Error{Code::kStorage, fmt::format("cannot {} {}: {}", act, path, std::strerror(errno))};
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

/// One file on its way, with what is reported of it.
struct Arriving {
  DiagnosticFiles& into;
  Sha256 digest{};
  std::string beginning{};

  Result<void> take(std::string_view piece) {
    digest.add(piece);
    beginning += piece.substr(0, kLongestSign - std::min(kLongestSign, beginning.size()));
    return into.add(piece);
  }
};

/// What is fetched from one BMC.
struct Fetching {
  const bmc::Bmc& bmc;
  std::string node;
  std::uint64_t most;  // bytes of a file
  DiagnosticFiles& into;
  Deadline deadline;
  std::set<std::string> names{};  // of files that were begun
  Collected all{};
};

/// Two entries may come to one name: it is shortened, and has plain characters alone.
std::string new_name(Fetching& fetching, std::string_view entry) {
  const auto name = name_of_diagnostics(fetching.node, entry, seconds_now());
  std::string own = name;
  for (int number = 2; !fetching.names.insert(own).second; ++number)
    own = fmt::format("{}-{}", name, number);
  return own;
}

Task<Result<CollectedFile>> bring(Fetching& from, bmc::DiagnosticData data) {
  const auto name = new_name(from, data.entry);
  CO_TRY(from.into.begin(name));
  Arriving file{from.into};
  const bmc::DiagnosticSink sink = [&file](std::string_view piece) { return file.take(piece); };
  CO_TRY(const auto bytes,
         co_await from.bmc.diagnostics.download(data, sink, from.most, from.deadline));
  CollectedFile whole{.entry = data.entry,
                      .name = name + std::string{extension_of(file.beginning)},
                      .bytes = bytes,
                      .sha256 = file.digest.hex()};
  CO_TRY(from.into.end(whole.name));
  co_return whole;
}

bool is_over(const Error& error) { return error.code == Code::kCancelled; }

/// Errors: kCancelled. Others are among the failures.
Task<Result<void>> bring_all(Fetching& from, const bmc::DiagnosticOrder& order,
                             std::vector<bmc::DiagnosticData> listed) {
  for (std::size_t at = 0; at < listed.size(); ++at) {
    if (from.names.size() >= kMostDiagnosticFiles) {
      from.all.failures.push_back(fmt::format(
          "{}: {} files are left on the BMC: at most {} are fetched",
          bmc::short_name_of_service(order.service), listed.size() - at, kMostDiagnosticFiles));
      co_return ok();
    }
    auto file = co_await bring(from, listed[at]);
    if (!file && is_over(file.error())) co_return std::move(file).error();
    if (!file) from.all.failures.push_back(printable(file.error().what));
    if (!file) continue;
    file->service = order.service;
    from.all.files.push_back(*std::move(file));
  }
  co_return ok();
}

}  // namespace

std::string_view extension_of(std::string_view beginning) {
  for (const auto& sign : kSigns)
    if (beginning.starts_with(sign.bytes)) return sign.extension;
  return ".bin";
}

std::string name_of_diagnostics(std::string_view node, std::string_view entry,
                                std::chrono::sys_seconds time) {
  constexpr std::string_view kRoot = "/redfish/v1/";
  if (entry.starts_with(kRoot)) entry.remove_prefix(kRoot.size());
  std::string name{node};
  for (const auto part : split(entry, '/'))
    if (!part.empty() && part != "LogServices" && part != "Entries")
      name += "-" + std::string{part};
  for (char& c : name)
    if (!is_plain(c)) c = '_';
  if (name.starts_with('.')) name.front() = '_';
  return name.substr(0, kLongestName) + fmt::format("-{:%Y%m%dT%H%M%SZ}", time);
}

Task<Result<Collected>> collect_diagnostics(const bmc::Bmc& bmc, std::string node, std::string type,
                                            std::uint64_t most, DiagnosticFiles& into,
                                            Deadline deadline) {
  CO_TRY(const auto offers, co_await bmc.diagnostics.offered(deadline));
  CO_TRY(const auto orders, bmc::diagnostic_orders(offers.services, type));
  Fetching fetching{bmc, std::move(node), most, into, deadline};
  auto& all = fetching.all;
  for (const auto& order : orders) {
    auto left = co_await bmc.diagnostics.collect(order, deadline);
    if (!left && is_over(left.error())) co_return std::move(left).error();
    if (!left) all.failures.push_back(printable(left.error().what));
    if (!left) continue;
    CO_TRY(co_await bring_all(fetching, order, *std::move(left)));
  }
  for (const auto& each : offers.unknown)
    all.failures.push_back(printable(each.source) + " could not be read: " + printable(each.why));
  if (!all.files.empty()) co_return std::move(all);
  co_return Error{Code::kFailed, fmt::format("{}", fmt::join(all.failures, "; "))};
}

Result<void> FilesInFolder::check() const {
  TRY(check_ownership(folder_));
  struct stat found{};
  const bool there = ::stat(folder_.c_str(), &found) == 0;
  if (there && !S_ISDIR(found.st_mode)) errno = ENOTDIR;
  if (there ? S_ISDIR(found.st_mode) : errno == ENOENT) return ok();
  return cannot("use the folder", folder_);
}

Result<void> FilesInFolder::begin(const std::string& name) {
  drop();
  TRY(check());
  if (::mkdir(folder_.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return cannot("make the folder", folder_);
  const auto path = folder_ + "/" + name + ".part";
  fd_ =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (fd_ < 0) return cannot("write", path);
  part_ = path;
  return ok();
}

Result<void> FilesInFolder::add(std::string_view piece) {
  while (!piece.empty()) {
    const auto size = ::write(fd_, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return cannot("write", part_);
    piece.remove_prefix(static_cast<std::size_t>(size));
  }
  return ok();
}

Result<void> FilesInFolder::end(const std::string& name) {
  if (::fsync(fd_) != 0) return cannot("write", part_);
  const auto path = folder_ + "/" + name;
  // Takes the name: rename() alone would replace what has it.
  const int taken = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR);
  if (taken < 0) return cannot("write", path);
  ::close(taken);
  if (::rename(part_.c_str(), path.c_str()) != 0) return cannot("write", path);
  part_.clear();
  drop();
  return sync_folder(folder_);
}

void FilesInFolder::drop() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  if (!part_.empty()) ::unlink(part_.c_str());
  part_.clear();
}

}  // namespace cupel::cli
