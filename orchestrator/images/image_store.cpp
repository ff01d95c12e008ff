#include "orchestrator/images/image_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/digest.h"
#include "base/file.h"
#include "base/ownership.h"
#include "base/paths.h"
#include "base/text.h"
#include "orchestrator/images/file_digest.h"

namespace cupel::images {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestManifest = 4u << 20;
constexpr std::size_t kMostImages = 10'000;
constexpr std::string_view kManifest = "manifest.json";
constexpr std::string_view kNew = ".new-";  // no image's name begins with a dot

Error storage(const fs::path& path, const std::error_code& reason) {
  return {Code::kStorage, path.string() + ": " + reason.message()};
}

/// Names of the folders in `folder`, in order.
Result<std::vector<std::string>> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code reason;
  auto entry = fs::directory_iterator{folder, reason};
  for (; !reason && entry != fs::directory_iterator{}; entry.increment(reason)) {
    std::error_code gone;
    if (entry->symlink_status(gone).type() == fs::file_type::directory)
      names.push_back(entry->path().filename().string());
    if (names.size() > kMostImages)
      return Error{Code::kStorage, fmt::format("{}: more than {} images: cupel image gc",
                                               folder.string(), kMostImages)};
  }
  if (reason) return storage(folder, reason);
  std::ranges::sort(names);
  return names;
}

/// -1: somebody else has it, or it cannot be opened.
int locked(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  ::close(fd);
  return -1;
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t sum = 0;
  std::error_code reason;
  auto entry = fs::recursive_directory_iterator{folder, reason};
  for (; !reason && entry != fs::recursive_directory_iterator{}; entry.increment(reason)) {
    std::error_code other;
    if (entry->symlink_status(other).type() != fs::file_type::regular) continue;
    const auto size = entry->file_size(other);
    if (!other) sum += size;
  }
  return sum;
}

Error bad_name(std::string_view name) {
  return {Code::kInvalid,
          fmt::format("'{}' is no name of an image: use letters, digits, '.', '_' and '-', at most "
                      "64, the first one a letter or a digit",
                      shortened(printable(name), 80))};
}

Result<void> check_sizes(const Image& image) {
  for (const auto& file : image.manifest.files) {
    TRY(check_ownership(image.folder / file.name));
    TRY(const auto size, size_of(image.folder / file.name));
    if (size != file.size)
      return Error{Code::kInvalid,
                   fmt::format("{} has {} bytes, and {} in the manifest: it was cut or replaced; "
                               "build or import the image again",
                               file.name, size, file.size)};
  }
  return ok();
}

Result<Image> read_image(const fs::path& folder, std::string_view name) {
  TRY(const auto text, read_trusted_file(folder / kManifest, kLargestManifest));
  TRY(auto manifest, within(kManifest, parse_manifest(text)));
  if (manifest.name != name)
    return Error{Code::kInvalid, fmt::format("manifest.json is of image {}", manifest.name)};
  Image image{std::move(manifest), folder};
  TRY(check_sizes(image));
  return image;
}

}  // namespace

NewImage::NewImage(NewImage&& other) noexcept
    : folder_{std::exchange(other.folder_, {})}, lock_{std::exchange(other.lock_, -1)} {}

NewImage::~NewImage() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

Result<ImageStore> ImageStore::open(fs::path folder) {
  std::error_code reason;
  if (!fs::is_directory(folder, reason))
    return Error{
        Code::kNotFound,
        folder.string() + ": there is no such folder of images: cupel image build or import"};
  return ImageStore{std::move(folder)};
}

Result<ImageStore> ImageStore::open_or_make(const fs::path& folder) {
  TRY(check_ownership(folder));  // before anything is made in a folder of another user
  std::error_code reason;
  fs::create_directories(folder, reason);
  if (reason) return storage(folder, reason);
  return open(folder);
}

Result<std::vector<StoredImage>> ImageStore::list() const {
  TRY(const auto names, folders_in(folder_));
  std::vector<StoredImage> images;
  for (const auto& name : names)
    if (is_image_name(name)) images.push_back({name, read_image(folder_ / name, name)});
  return images;
}

Result<Image> ImageStore::find(std::string_view name) const {
  if (!is_image_name(name)) return bad_name(name);
  std::error_code reason;
  if (fs::symlink_status(folder_ / name, reason).type() == fs::file_type::directory)
    return within(fmt::format("image {}", name), read_image(folder_ / name, name));
  TRY(const auto names, folders_in(folder_));
  const auto similar = nearest(name, std::span{names});
  return Error{Code::kNotFound, fmt::format("there is no image {} in {}{}", name, folder_.string(),
                                            similar ? fmt::format(": did you mean {}?", *similar)
                                                    : "; what there is: cupel image list")};
}

Result<Image> ImageStore::verify(std::string_view name) const {
  TRY(auto image, find(name));
  for (const auto& file : image.manifest.files) {
    TRY(const auto digest, digest_of(image.folder / file.name));
    if (digest.sha256 != file.sha256)
      return Error{
          Code::kUntrusted,
          fmt::format("image {}: {} has SHA-256 {}, and {} in the manifest: do not use it; "
                      "build or import the image again",
                      name, file.name, digest.sha256, file.sha256)};
  }
  return image;
}

Result<NewImage> ImageStore::begin(std::string_view name) const {
  if (!is_image_name(name)) return bad_name(name);
  std::error_code reason;
  if (fs::exists(fs::symlink_status(folder_ / name, reason)))
    return Error{Code::kConflict, fmt::format("image {} exists: choose another name, or remove {}",
                                              name, (folder_ / name).string())};
  const auto folder = folder_ / fmt::format("{}{}-{}", kNew, name, random_hex(4));
  if (!fs::create_directory(folder, reason)) return storage(folder, reason);
  const int lock = locked(folder);
  if (lock < 0) return Error{Code::kStorage, folder.string() + ": cannot be locked"};
  return NewImage{folder, lock};
}

Result<Image> ImageStore::keep(NewImage made, ImageManifest manifest,
                               const std::vector<std::string>& files) const {
  manifest.files.clear();
  for (const auto& name : files) {
    TRY(const auto digest, digest_of(made.folder() / name));
    manifest.files.push_back({name, digest.sha256, digest.size});
  }
  // What would not be read back is not written.
  const auto text = manifest_text(manifest);
  TRY(parse_manifest(text));
  TRY(write_file(made.folder() / kManifest, text, kReadableByAll));
  std::error_code reason;
  const auto folder = folder_ / manifest.name;
  fs::rename(made.folder(), folder, reason);  // fails where an image is: its folder is not empty
  if (reason)
    return Error{is_there(folder) ? Code::kConflict : Code::kStorage,
                 folder.string() + ": " + reason.message()};
  made.folder_.clear();
  TRY(sync_folder(folder_));
  return find(manifest.name);
}

Result<ImageStore::Waste> ImageStore::waste(const std::set<std::string>& keep) const {
  for (const auto& name : keep)
    if (const auto image = find(name); !image && image.error().code == Code::kNotFound)
      return image.error();  // a misspelt name must not cost the image
  TRY(const auto names, folders_in(folder_));
  Waste waste;
  for (const auto& name : names) {
    const bool left = name.starts_with(kNew);
    if (!left && (!is_image_name(name) || keep.contains(name))) continue;
    const auto folder = folder_ / name;
    const int lock = locked(folder);
    if (lock < 0) continue;  // a build is under way
    ::close(lock);
    (left ? waste.left : waste.images).push_back(name);
    waste.bytes += bytes_in(folder);
  }
  return waste;
}

Result<void> ImageStore::remove(const Waste& waste) const {
  auto names = waste.images;
  names.insert(names.end(), waste.left.begin(), waste.left.end());
  for (const auto& name : names) {
    if (!is_image_name(name) && !name.starts_with(kNew)) return bad_name(name);
    std::error_code reason;
    fs::remove(folder_ / name / kManifest, reason);  // first: half an image is none
    fs::remove_all(folder_ / name, reason);
    if (reason) return storage(folder_ / name, reason);
  }
  return ok();
}

}  // namespace cupel::images
