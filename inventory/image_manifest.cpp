#include "inventory/image_manifest.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/versions.h"
#include "inventory/yaml.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;
using Days = std::chrono::sys_days;

constexpr std::size_t kMostImages = 4096;
constexpr std::size_t kMostModels = 64;
constexpr std::size_t kLongestText = 256;
constexpr long kLargestImage = 8L << 30;

std::string required_text(YamlFields& fields, std::string_view key) {
  auto text = fields.required(key);
  if (fields.has(key) && (text.empty() || text.size() > kLongestText || printable(text) != text))
    fields.report(fields.place(key),
                  fmt::format("{} must be a text of 1 to {} characters", key, kLongestText));
  return text;
}

/// "2027-11-01".
std::optional<Days> day_of(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = number<int>(text.substr(0, 4));
  const auto month = number<unsigned>(text.substr(5, 2)), day = number<unsigned>(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{*month},
                                         std::chrono::day{*day}};
  return date.ok() ? std::optional{Days{date}} : std::nullopt;
}

void read_models(YamlFields& fields, ListedImage& image) {
  if (!fields.has("model")) fields.required("model");
  image.models = fields.texts("model");
  const bool bad = std::ranges::any_of(
      image.models, [](const auto& model) { return model.empty() || model.size() > kLongestText; });
  if (bad || image.models.size() > kMostModels || (fields.has("model") && image.models.empty()))
    fields.report(fields.place("model"),
                  fmt::format("model must be 1 to {} texts, none of them empty", kMostModels));
}

ListedImage read_image(const YamlValue& value, const std::string& file, Problems& problems) {
  YamlFields fields{value, "image", file, problems};
  ListedImage image;
  image.where = fields.place();
  if (fields.has("file")) image.file = required_text(fields, "file");
  image.vendor = required_text(fields, "vendor");
  read_models(fields, image);
  image.component = required_text(fields, "component");
  image.version = required_text(fields, "version");
  image.sha256 = lower_case(fields.required("sha256"));
  if (fields.has("sha256") &&
      (image.sha256.size() != 64 ||
       image.sha256.find_first_not_of("0123456789abcdef") != std::string::npos))
    fields.report(fields.place("sha256"), "sha256 must be 64 hexadecimal digits");
  if (!fields.has("size")) fields.required("size");
  image.bytes = static_cast<std::uint64_t>(fields.integer("size", 1, kLargestImage).value_or(0));
  const auto expires = day_of(fields.required("expires"));
  if (fields.has("expires") && !expires)
    fields.report(fields.place("expires"), "expires must be a date such as 2027-11-01");
  image.expires = expires.value_or(Days{});
  if (fields.has("floor")) image.floor = required_text(fields, "floor");
  fields.finish();
  return image;
}

bool is_for(const ListedImage& image, const RequestedImage& requested) {
  const auto fits = [&](const auto& model) { return fits_pattern(model, requested.model); };
  return !requested.vendor.empty() && !requested.model.empty() &&
         fits_pattern(image.vendor, requested.vendor) && std::ranges::any_of(image.models, fits);
}

bool is_same_component(const ListedImage& image, const RequestedImage& requested) {
  return lower_case(image.component) == lower_case(requested.component);
}

/// What stands against this entry of the image's bytes; empty: nothing.
std::string against(const ListedImage& image, const RequestedImage& requested,
                    std::chrono::sys_seconds now) {
  if (!is_for(image, requested))
    return fmt::format(
        "is for {} {}, and this machine is {} {}", image.vendor, fmt::join(image.models, " or "),
        requested.vendor.empty() ? "of no reported vendor," : printable(requested.vendor),
        requested.model.empty() ? "of no reported model" : printable(requested.model));
  if (!is_same_component(image, requested))
    return fmt::format("is for the component '{}'", image.component);
  if (compare_versions(image.version, requested.version) != 0)
    return fmt::format("is of version {}", image.version);
  if (now >= image.expires)
    return fmt::format("expired on {:%F}: sign a manifest with a later date", image.expires);
  return {};
}

}  // namespace

std::string signature_file_of(const std::string& manifest) { return manifest + ".sig"; }
std::string approval_file_of(const std::string& manifest) { return manifest + ".approval"; }

Result<ImageManifest> parse_image_manifest(std::string_view text, const std::string& file) {
  Problems problems;
  ImageManifest manifest{.file = file};
  const auto document = parse_yaml(text, file, problems);
  if (document) {
    YamlFields fields{document->root, "manifest", manifest.file, problems};
    if (!fields.has("images")) fields.required("images");
    const auto images = fields.list("images");
    if (images.size() > kMostImages)
      fields.report(fields.place("images"),
                    fmt::format("{} images: at most {}", images.size(), kMostImages));
    for (const auto& item : images.first(std::min(images.size(), kMostImages)))
      manifest.images.push_back(read_image(item, manifest.file, problems));
    fields.finish();
  }
  if (!problems.empty())
    return Error{Code::kInvalid,
                 std::string{trimmed(to_string(reported_once(std::move(problems))))}};
  return manifest;
}

Result<ListedImage> allowed_image(const ImageManifest& manifest, const RequestedImage& requested,
                                  std::chrono::sys_seconds now) {
  const auto refuse = [&](const std::string& why) {
    return Error{Code::kUntrusted,
                 fmt::format("{} {}: {}", requested.component, requested.version, why)};
  };
  const ListedImage* allowed = nullptr;
  std::string why;
  for (const auto& image : manifest.images) {
    if (image.sha256 != requested.sha256) continue;
    const auto fault = against(image, requested, now);
    if (fault.empty()) allowed = &image;
    if (why.empty()) why = fmt::format("the image at {} {}", to_string(image.where), fault);
  }
  if (allowed == nullptr && why.empty())
    return refuse(
        fmt::format("no image of SHA-256 {} is listed in {}", requested.sha256, manifest.file));
  if (allowed == nullptr) return refuse(why);
  // A floor holds for all images of the component, or an older entry would get around it.
  for (const auto& image : manifest.images) {
    if (image.floor.empty() || !is_for(image, requested) || !is_same_component(image, requested))
      continue;
    if (!(compare_versions(requested.version, image.floor) >= 0))
      return refuse(fmt::format("the manifest allows no version before {} ({})", image.floor,
                                to_string(image.where)));
  }
  return *allowed;
}

Result<ListedImage> listed_image(const ImageManifest& manifest, RequestedImage requested,
                                 std::chrono::sys_seconds now) {
  const auto refuse = [&](std::string_view why) {
    return Error{Code::kUntrusted,
                 fmt::format("{} {}: {}", requested.component, printable(requested.version), why)};
  };
  const ListedImage* found = nullptr;
  for (const auto& image : manifest.images) {
    const bool is_it = is_for(image, requested) && is_same_component(image, requested) &&
                       compare_versions(image.version, requested.version) == 0;
    if (!is_it || image.file.empty()) continue;
    if (found != nullptr && found->sha256 != image.sha256)
      return refuse(fmt::format("the manifest lists two images of it ({}, {})",
                                to_string(found->where), to_string(image.where)));
    found = &image;
  }
  if (found == nullptr)
    return refuse("no image of this version with its file is listed in " + manifest.file);
  const auto file = found->file;
  requested.sha256 = found->sha256;
  TRY(auto allowed, allowed_image(manifest, requested, now));
  allowed.file = file;
  return allowed;
}

}  // namespace cupel::inventory
