#pragma once
// The folder of images: one folder for each, with its manifest.json. An image comes whole or not at
// all, and does not change afterwards. Blocking: hashing an image takes its time.
#include <set>

#include "orchestrator/images/image.h"

namespace cupel::images {

/// A folder in the store, also where its manifest is unusable.
struct StoredImage {
  std::string name{};
  Result<Image> image;
};

/// The folder of an image that is being made. It is locked as long as this lives, and removed
/// unless it was kept.
class NewImage {
 public:
  NewImage(std::filesystem::path folder, int lock) : folder_{std::move(folder)}, lock_{lock} {}
  NewImage(NewImage&& other) noexcept;
  NewImage& operator=(NewImage&&) = delete;
  ~NewImage();

  const std::filesystem::path& folder() const { return folder_; }

 private:
  friend class ImageStore;
  std::filesystem::path folder_;
  int lock_;
};

class ImageStore {
 public:
  /// Errors: kNotFound (no such folder).
  static Result<ImageStore> open(std::filesystem::path folder);
  /// The same, and makes the folder where there is none. Errors: kStorage.
  static Result<ImageStore> open_or_make(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }

  /// By name. Errors: kStorage.
  Result<std::vector<StoredImage>> list() const;

  /// Its files are there with the sizes of the manifest; nothing is hashed. Errors: kNotFound, with
  /// a similar name; kInvalid (name, manifest, or files that are not as it says).
  Result<Image> find(std::string_view name) const;

  /// Reads all files of the image. Errors: those of find; kUntrusted (a digest differs).
  Result<Image> verify(std::string_view name) const;

  /// A folder to make image `name` in. Errors: kInvalid (the name); kConflict (the image exists);
  /// kStorage.
  Result<NewImage> begin(std::string_view name) const;

  /// Puts the image under its manifest's name, with sizes and digests of `files` taken from the
  /// folder. Errors: kConflict (exists by now); kInvalid; kStorage.
  Result<Image> keep(NewImage made, ImageManifest manifest,
                     const std::vector<std::string>& files) const;

  /// What may go: images that are not in `keep`, and what interrupted builds left.
  struct Waste {
    std::vector<std::string> images{};  // names
    std::vector<std::string> left{};    // folders of builds that no longer run
    std::uint64_t bytes = 0;
  };
  Result<Waste> waste(const std::set<std::string>& keep) const;
  /// Removes it. Errors: kStorage.
  Result<void> remove(const Waste& waste) const;

 private:
  explicit ImageStore(std::filesystem::path folder) : folder_{std::move(folder)} {}
  std::filesystem::path folder_;
};

}  // namespace cupel::images
