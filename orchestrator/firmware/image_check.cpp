#include "orchestrator/firmware/image_check.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/digest.h"
#include "base/file.h"
#include "base/ownership.h"
#include "base/signature.h"
#include "base/text.h"
#include "inventory/versions.h"
#include "orchestrator/images/unnamed_file.h"

namespace cupel::firmware {
namespace {

using inventory::ImageManifest;
using inventory::ImageTrust;
using inventory::ListedImage;

constexpr std::size_t kLargestManifest = 4u << 20;
constexpr std::size_t kLargestKey = 16u << 10;
constexpr std::size_t kLargestSignature = 16u << 10;
constexpr std::size_t kPiece = 1u << 20;
constexpr std::size_t kLargestWhole = 256u << 20;
constexpr std::size_t kMostKnown = 1024;  // files whose digest is kept

Result<void> trusted(const std::string& file) {
  auto owned = check_ownership(file);
  if (!owned) return Error{Code::kUntrusted, std::move(owned).error().what};
  return ok();
}

/// Whatever keeps a file from being read or trusted, nothing is written.
Result<std::string> read_trusted(const std::string& file, std::size_t limit) {
  TRY(trusted(file));
  auto text = read_file(file, limit);
  if (!text) return Error{Code::kUntrusted, std::move(text).error().what};
  return *std::move(text);
}

/// The second key of the file with the site's own: of whoever approves downgrades.
std::string approvers_key(std::string_view keys) {
  constexpr std::string_view kBegin = "-----BEGIN PUBLIC KEY-----";
  const auto first = keys.find(kBegin);
  const auto second = first == keys.npos ? first : keys.find(kBegin, first + kBegin.size());
  return second == keys.npos ? std::string{} : std::string{keys.substr(second)};
}

Result<void> approved_by_another(const ImageTrust& trust, const std::string& text,
                                 const std::string& keys) {
  const auto key = approvers_key(keys);
  if (key.empty())
    return Error{Code::kUntrusted,
                 trust.key + " has no second key, of the person who approves downgrades"};
  TRY(const auto signature,
      read_trusted(inventory::approval_file_of(trust.manifest), kLargestSignature));
  if (verify_signature(text, signature, keys))
    return Error{Code::kUntrusted,
                 "its approval is by the key that signed it: another person's "
                 "is needed"};
  return verify_signature(text, signature, key);
}

/// A file that a manifest names, from the manifest's folder.
std::string beside(const std::string& manifest, const std::string& file) {
  return (std::filesystem::path{manifest}.parent_path() / file).lexically_normal().string();
}

struct Found {
  images::OpenFile::Ptr file{};
  FileState state{};
};

Result<FileState> state_of(const images::OpenFile& file) {
  struct stat found{};
  if (::fstat(file.fd(), &found) != 0)
    return Error{Code::kInvalid, file.path() + ": " + std::strerror(errno)};
  const auto nanoseconds = [](const timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  return FileState{found.st_dev, found.st_ino, static_cast<std::uint64_t>(found.st_size),
                   nanoseconds(found.st_mtim), nanoseconds(found.st_ctim)};
}

/// On a thread: each of these may wait for the disk. A link is followed, once.
Result<Found> found_at(const std::string& path) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  if (failed)
    return Error{failed == std::errc::no_such_file_or_directory ? Code::kNotFound : Code::kInvalid,
                 path + ": " + failed.message()};
  TRY(trusted(real));
  TRY(auto file, images::OpenFile::open(real));
  TRY(const auto state, state_of(*file));
  return Found{std::move(file), state};
}

Result<void> is_listed_size(const ListedImage& listed, const std::string& file,
                            std::uint64_t bytes) {
  if (bytes == listed.bytes) return ok();
  return Error{Code::kUntrusted, fmt::format("{} has {} bytes, and the manifest says {} ({})", file,
                                             bytes, listed.bytes, to_string(listed.where))};
}

Result<void> is_listed_digest(const ListedImage& listed, const std::string& file,
                              const std::string& digest) {
  if (digest == listed.sha256) return ok();
  return Error{Code::kUntrusted, fmt::format("{} has SHA-256 {}, and the manifest says {} ({})",
                                             file, digest, listed.sha256, to_string(listed.where))};
}

}  // namespace

Result<ImageManifest> read_manifest(const std::optional<ImageTrust>& trust) {
  if (!trust)
    return Error{Code::kUntrusted,
                 "the inventory names no manifest of images: firmware: {manifest: images.yaml, "
                 "key: site.pub}"};
  TRY(const auto text, read_trusted(trust->manifest, kLargestManifest));
  TRY(const auto signature,
      read_trusted(inventory::signature_file_of(trust->manifest), kLargestSignature));
  TRY(const auto key, read_trusted(trust->key, kLargestKey));
  auto verified = verify_signature(text, signature, key);
  if (!verified)
    return Error{Code::kUntrusted,
                 fmt::format("{}: {} ({}): cupel firmware sign {} --key KEY", trust->manifest,
                             verified.error().what, trust->key, trust->manifest)};
  TRY(auto manifest, inventory::parse_image_manifest(text, trust->manifest));
  auto approved = approved_by_another(*trust, text, key);
  manifest.unapproved = approved ? std::string{} : std::move(approved).error().what;
  return manifest;
}

std::string lacks_approval(const FirmwareUpdate& update, const ImageManifest& manifest) {
  if (manifest.unapproved.empty()) return {};
  const auto is_newer = [&](const RunningVersion& one) {
    return !(inventory::compare_versions(one.version, update.version) < 0);
  };
  const auto newer = std::ranges::find_if(update.replaces, is_newer);
  if (newer == update.replaces.end()) return {};
  return fmt::format(
      "{} over {} is a downgrade, which two people decide: {}: cupel firmware sign "
      "{} --approve --key KEY",
      printable(update.version), printable(newer->version), manifest.unapproved, manifest.file);
}

Task<Result<std::string>> ImageChecker::digest_of(images::OpenFile::Ptr file, Deadline deadline) {
  Sha256 sum;
  const auto add = [&](std::string_view piece) -> Result<void> {
    sum.add(piece);
    return ok();
  };
  CO_TRY(co_await read_pieces(std::move(file), add, deadline));
  co_return sum.hex();
}

Task<Result<void>> ImageChecker::read_pieces(images::OpenFile::Ptr file,
                                             std::function<Result<void>(std::string_view)> take,
                                             Deadline deadline) {
  std::uint64_t at = 0;
  while (true) {
    if (co_await cancelled()) co_return Error{Code::kCancelled, file->path() + ": not read whole"};
    if (deadline.passed()) co_return Error{Code::kTimeout, file->path() + " was not read in time"};
    CO_TRY(const auto piece, co_await disk_.read(file, at, kPiece));
    if (piece.empty()) co_return ok();
    CO_TRY(take(piece));
    at += piece.size();
  }
}

std::shared_ptr<bmc::Semaphore> ImageChecker::turn_of(const std::string& file) {
  auto& turn = turns_[file];
  if (!turn) turn = std::make_shared<bmc::Semaphore>(1);
  return turn;
}

Task<Result<std::string>> ImageChecker::read_whole(images::OpenFile::Ptr file, std::string sha256,
                                                   Deadline deadline) {
  std::string bytes;
  Sha256 sum;
  const auto add = [&](std::string_view piece) -> Result<void> {
    if (bytes.size() + piece.size() > kLargestWhole)
      return Error{Code::kInvalid,
                   fmt::format("{}: more than {} MiB", file->path(), kLargestWhole >> 20)};
    bytes += piece;
    sum.add(piece);
    return ok();
  };
  CO_TRY(co_await read_pieces(file, add, deadline));
  if (sum.hex() != sha256)
    co_return Error{Code::kUntrusted, file->path() + " was changed after it was checked"};
  co_return bytes;
}

Task<Result<std::shared_ptr<const std::string>>> ImageChecker::whole(std::string file,
                                                                     std::string sha256,
                                                                     Deadline deadline) {
  const auto line = turn_of(file);
  CO_TRY(const bmc::Semaphore::Permit mine, co_await line->enter(deadline));
  if (auto held = held_[sha256].lock()) co_return held;
  std::function<Result<Found>()> look = [file] { return found_at(file); };
  CO_TRY(const auto found, co_await disk_.run<Found>(file, std::move(look)));
  CO_TRY(auto bytes, co_await read_whole(found.file, sha256, deadline));
  auto held = std::make_shared<const std::string>(std::move(bytes));
  std::erase_if(held_, [](const auto& one) { return one.second.expired(); });
  held_[sha256] = held;
  co_return held;
}

std::uint64_t ImageChecker::bytes_of_copies() const {
  auto bytes = being_copied_;
  for (const auto& [digest, copy] : copies_)
    if (const auto held = copy.lock()) bytes += held->size();
  return bytes;
}

/// Both disks are waited for on threads.
Task<Result<images::OpenFile::Ptr>> ImageChecker::write_copy(images::OpenFile::Ptr file,
                                                             std::string sha256,
                                                             std::filesystem::path folder,
                                                             Deadline deadline) {
  using Written = std::shared_ptr<images::UnnamedFile>;
  std::function<Result<Written>()> make = [folder]() -> Result<Written> {
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (!failure) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failure);
    TRY(auto made, images::UnnamedFile::make(folder));
    return std::make_shared<images::UnnamedFile>(std::move(made));
  };
  CO_TRY(const auto copy, co_await disk_.run<Written>(folder, std::move(make)));
  Sha256 sum;
  std::uint64_t at = 0;
  for (;;) {
    if (co_await cancelled()) co_return Error{Code::kCancelled, file->path() + ": not copied"};
    if (deadline.passed())
      co_return Error{Code::kTimeout, file->path() + " was not copied in time"};
    CO_TRY(auto piece, co_await disk_.read(file, at, kPiece));
    if (piece.empty()) break;
    at += piece.size();
    sum.add(piece);
    std::function<Result<bool>()> append = [copy, bytes = std::move(piece)]() -> Result<bool> {
      TRY(copy->append(bytes));
      return true;
    };
    CO_TRY([[maybe_unused]] const bool written,
           co_await disk_.run<bool>(folder, std::move(append)));
  }
  if (sum.hex() != sha256)
    co_return Error{Code::kUntrusted, file->path() + " was changed after it was checked"};
  co_return copy->finish(file->path());
}

Task<Result<images::OpenFile::Ptr>> ImageChecker::copy(std::string file, std::string sha256,
                                                       std::filesystem::path folder,
                                                       Deadline deadline) {
  const auto line = turn_of(file);
  CO_TRY(const bmc::Semaphore::Permit mine, co_await line->enter(deadline));
  if (auto held = copies_[sha256].lock()) co_return held;
  std::function<Result<Found>()> look = [file] { return found_at(file); };
  CO_TRY(const auto found, co_await disk_.run<Found>(file, std::move(look)));
  std::erase_if(copies_, [](const auto& one) { return one.second.expired(); });
  const auto copied = bytes_of_copies();
  if (copied + found.state.bytes > kMostCopied)
    co_return Error{Code::kInvalid,
                    fmt::format("{}: no copy of it can be served: copies of {} MiB are in {} "
                                "already, and {} MiB may be: wait until updates have ended",
                                file, copied >> 20, folder.string(), kMostCopied >> 20)};
  being_copied_ += found.state.bytes;
  auto made = co_await write_copy(found.file, sha256, folder, deadline);
  being_copied_ -= found.state.bytes;
  if (made) copies_[sha256] = *made;
  co_return made;
}

Task<Result<void>> ImageChecker::hold_against(ListedImage listed, std::string file,
                                              Deadline deadline) {
  const auto line = turn_of(file);
  CO_TRY(const bmc::Semaphore::Permit mine, co_await line->enter(deadline));
  std::function<Result<Found>()> look = [file] { return found_at(file); };
  CO_TRY(const auto found, co_await disk_.run<Found>(file, std::move(look)));
  CO_TRY(is_listed_size(listed, file, found.state.bytes));
  if (const auto known = known_.find(found.state); known != known_.end())
    co_return is_listed_digest(listed, file, known->second);
  CO_TRY(const auto digest, co_await digest_of(found.file, deadline));
  std::function<Result<FileState>()> look_again = [opened = found.file] {
    return state_of(*opened);
  };
  CO_TRY(const auto after, co_await disk_.run<FileState>(file, std::move(look_again)));
  if (after != found.state)
    co_return Error{Code::kUntrusted, file + " was changed while it was read"};
  if (known_.size() >= kMostKnown) known_.clear();
  known_[after] = digest;
  co_return is_listed_digest(listed, file, digest);
}

Task<Result<bmc::UpdateOrder>> ImageChecker::check(FirmwareUpdate update, bmc::Identity machine,
                                                   std::chrono::sys_seconds now,
                                                   Deadline deadline) {
  const auto& expected = *update.expected;
  CO_TRY(const auto manifest, read_manifest(trust_));
  const inventory::RequestedImage requested{machine.vendor, machine.model, expected.component,
                                            update.version, update.image.sha256};
  const bool by_profile = update.image.is_named();
  CO_TRY(const auto listed, by_profile ? inventory::allowed_image(manifest, requested, now)
                                       : inventory::listed_image(manifest, requested, now));
  const auto file = by_profile ? update.image.file : beside(manifest.file, listed.file);
  if (auto lacking = lacks_approval(update, manifest); !lacking.empty())
    co_return Error{Code::kUntrusted, std::move(lacking)};
  CO_TRY(co_await hold_against(listed, file, deadline));
  bmc::UpdateOrder order;
  order.file = file;
  order.name = std::filesystem::path{file}.filename().string();
  order.bytes = listed.bytes;
  order.sha256 = listed.sha256;
  order.component = expected.component;
  order.targets = update.targets;
  order.force = expected.force;
  co_return order;
}

}  // namespace cupel::firmware
