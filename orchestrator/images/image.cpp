#include "orchestrator/images/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/json.hpp>
#include <set>

#include "base/enum_words.h"
#include "base/json.h"
#include "base/text.h"

namespace cupel::images {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kMostFiles = 32;
constexpr std::size_t kMostPackages = 20'000;
constexpr std::size_t kLongestText = 1024;
constexpr std::uint64_t kLargestFile = 1ull << 44;  // 16 TiB
constexpr int kVersion = 1;

constexpr std::string_view kInstallerFiles[] = {"ram.efi", "vmlinuz", "initrd", "cupel-node"};
constexpr std::string_view kArchitectures[] = {"x86_64", "aarch64"};

constexpr bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_digest(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Error invalid(std::string what) { return {Code::kInvalid, std::move(what)}; }

/// Reads keys of one object and remembers the first that is wrong.
class Reader {
 public:
  explicit Reader(const json::value& root) : root_{root} {}

  std::string text(std::string_view path, bool required = false) {
    const auto* value = find(root_, path);
    if (value == nullptr) {
      if (required) fail(path, "is absent");
      return {};
    }
    const auto* text = value->if_string();
    if (text == nullptr || text->size() > kLongestText || printable(*text) != *text) {
      fail(path, "is no text of printable characters");
      return {};
    }
    return std::string{*text};
  }

  std::uint64_t count(std::string_view path, bool required = false) {
    const auto* value = find(root_, path);
    if (value == nullptr) {
      if (required) fail(path, "is absent");
      return 0;
    }
    boost::system::error_code wrong;
    const auto number = value->to_number<std::uint64_t>(wrong);
    if (!wrong && number <= kLargestFile) return number;
    fail(path, "is no number of bytes");
    return 0;
  }

  std::string digest(std::string_view path, bool required = false) {
    auto text = this->text(path, required);
    if (!text.empty() && !is_digest(text)) fail(path, "is no SHA-256");
    return text;
  }

  const json::array& array(std::string_view path, std::size_t most) {
    static const json::array none;
    const auto* value = find(root_, path);
    if (value == nullptr) return none;
    if (!value->is_array() || value->get_array().size() > most) {
      fail(path, fmt::format("is no list of at most {}", most));
      return none;
    }
    return value->get_array();
  }

  void fail(std::string_view path, std::string_view why) {
    if (wrong_.empty()) wrong_ = fmt::format("'{}' {}", path, why);
  }
  const std::string& wrong() const { return wrong_; }

 private:
  const json::value& root_;
  std::string wrong_{};
};

Result<std::vector<ImageFile>> read_files(const json::array& array) {
  std::vector<ImageFile> files;
  std::set<std::string> names;
  for (const auto& each : array) {
    Reader reader{each};
    ImageFile file{reader.text("name", true), reader.digest("sha256", true),
                   reader.count("size", true)};
    if (!is_image_name(file.name)) reader.fail("name", "is no file name");
    if (!names.insert(file.name).second) reader.fail("name", "stands twice");
    if (!reader.wrong().empty()) return invalid("a file's " + reader.wrong());
    files.push_back(std::move(file));
  }
  if (files.empty()) return invalid("'files' is absent or empty");
  return files;
}

Result<std::vector<Package>> read_packages(const json::array& array) {
  std::vector<Package> packages;
  for (const auto& each : array) {
    Reader reader{each};
    packages.push_back({reader.text("name", true), reader.text("version", true)});
    if (!reader.wrong().empty()) return invalid("a package's " + reader.wrong());
  }
  return packages;
}

const ImageFile* find_file(const ImageManifest& manifest, std::string_view name) {
  const auto found = std::ranges::find(manifest.files, name, &ImageFile::name);
  return found == manifest.files.end() ? nullptr : &*found;
}

/// What each kind must have.
void check_kind(const ImageManifest& manifest, Reader& reader) {
  if (manifest.kind == ImageKind::disk) {
    if (find_file(manifest, kDiskFile) == nullptr) reader.fail("files", "lacks disk.raw.zst");
    if (manifest.content_size == 0) reader.fail("content/size", "is absent");
    if (manifest.compression != "zstd") reader.fail("compression", "is not zstd");
    return;
  }
  if (manifest.kind == ImageKind::installer) {
    for (const auto name : kInstallerFiles)
      if (find_file(manifest, name) == nullptr) reader.fail("files", fmt::format("lacks {}", name));
    if (manifest.answers != "preseed") reader.fail("installer/answers", "is not preseed");
    if (manifest.mirror.empty()) reader.fail("installer/mirror", "is absent");
    return;
  }
  const auto* iso = find_file(manifest, "ram.iso");
  const auto& slot = manifest.iso_ticket;
  if (slot && (iso == nullptr || slot->size == 0 || slot->offset > iso->size ||
               slot->size > iso->size - slot->offset))
    reader.fail("ram/iso_ticket", "is not in ram.iso");
  // A disc without a place for its node's address would boot, and find no boot server.
  if (iso != nullptr && !slot) reader.fail("ram/iso_ticket", "is absent");
}

void read_ram(const json::value& root, Reader& reader, ImageManifest& manifest) {
  manifest.command_line = reader.text("ram/command_line");
  manifest.signed_efi = flag_at(root, "ram/signed") == true;
  manifest.https_only = flag_at(root, "ram/https_only") == true;
  manifest.boot_host = reader.text("ram/boot_host");
  if (find(root, "ram/iso_ticket") != nullptr)
    manifest.iso_ticket = Slot{reader.count("ram/iso_ticket/offset", true),
                               reader.count("ram/iso_ticket/size", true)};
}

void read_installer(Reader& reader, ImageManifest& manifest) {
  manifest.answers = reader.text("installer/answers");
  manifest.mirror = reader.text("installer/mirror");
  manifest.command_line = reader.text("installer/command_line");
}

json::object to_json(const ImageFile& file) {
  return {{"name", file.name}, {"sha256", file.sha256}, {"size", file.size}};
}

void put_disk(json::object& into, const ImageManifest& manifest) {
  json::object content{{"size", manifest.content_size}};
  if (!manifest.content_sha256.empty()) content["sha256"] = manifest.content_sha256;
  into["content"] = std::move(content);
  into["compression"] = manifest.compression;
  json::object boot;
  if (!manifest.efi.empty()) boot["efi"] = manifest.efi;
  if (manifest.bios) boot["bios"] = true;
  if (!boot.empty()) into["boot"] = std::move(boot);
  if (!manifest.no_seed.empty()) into["seed"] = json::object{{"none_since", manifest.no_seed}};
}

void put_ram(json::object& into, const ImageManifest& manifest) {
  json::object ram{{"command_line", manifest.command_line}, {"signed", manifest.signed_efi}};
  if (manifest.https_only) ram["https_only"] = true;
  if (!manifest.boot_host.empty()) ram["boot_host"] = manifest.boot_host;
  if (const auto& slot = manifest.iso_ticket)
    ram["iso_ticket"] = {{"offset", slot->offset}, {"size", slot->size}};
  into["ram"] = std::move(ram);
}

void put_installer(json::object& into, const ImageManifest& manifest) {
  into["installer"] = {{"answers", manifest.answers},
                       {"mirror", manifest.mirror},
                       {"command_line", manifest.command_line}};
}

}  // namespace

std::string_view to_string(ImageKind kind) { return enum_word<'-'>(kind); }

bool is_image_name(std::string_view name) {
  const auto may_stand = [](char c) {
    return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kLongestName && is_letter_or_digit(name.front()) &&
         std::ranges::all_of(name, may_stand);
}

Result<ImageManifest> parse_manifest(std::string_view text) {
  const auto root = parse_json(text);
  if (!root) return invalid(root.error().what);
  Reader reader{*root};
  if (reader.count("cupel_image", true) != kVersion)
    reader.fail("cupel_image", fmt::format("is not {}", kVersion));
  ImageManifest manifest;
  manifest.name = reader.text("name", true);
  if (!is_image_name(manifest.name)) reader.fail("name", "is no image's name");
  if (const auto kind = enum_of<ImageKind, '-'>(reader.text("kind", true)))
    manifest.kind = *kind;
  else
    reader.fail("kind", "is none of ram, disk and installer");
  manifest.arch = reader.text("arch", true);
  if (std::ranges::find(kArchitectures, manifest.arch) == std::end(kArchitectures))
    reader.fail("arch", "is neither x86_64 nor aarch64");
  manifest.made = reader.text("made");
  manifest.content_size = reader.count("content/size");
  manifest.content_sha256 = reader.digest("content/sha256");
  manifest.compression = reader.text("compression");
  manifest.efi = reader.text("boot/efi");
  manifest.bios = flag_at(*root, "boot/bios") == true;
  manifest.no_seed = reader.text("seed/none_since");
  manifest.os_id = reader.text("os/id");
  manifest.os_version = reader.text("os/version");
  if (manifest.kind == ImageKind::installer)
    read_installer(reader, manifest);
  else
    read_ram(*root, reader, manifest);
  TRY(manifest.files, read_files(reader.array("files", kMostFiles)));
  TRY(manifest.packages, read_packages(reader.array("packages", kMostPackages)));
  check_kind(manifest, reader);
  if (!reader.wrong().empty()) return invalid(reader.wrong());
  return manifest;
}

std::string manifest_text(const ImageManifest& manifest) {
  json::object root{{"cupel_image", kVersion},
                    {"name", manifest.name},
                    {"kind", to_string(manifest.kind)},
                    {"arch", manifest.arch},
                    {"made", manifest.made}};
  json::array files;
  for (const auto& each : manifest.files) files.push_back(to_json(each));
  root["files"] = std::move(files);
  if (manifest.kind == ImageKind::disk)
    put_disk(root, manifest);
  else if (manifest.kind == ImageKind::installer)
    put_installer(root, manifest);
  else
    put_ram(root, manifest);
  if (!manifest.os_id.empty())
    root["os"] = {{"id", manifest.os_id}, {"version", manifest.os_version}};
  json::array packages;
  for (const auto& each : manifest.packages)
    packages.push_back({{"name", each.name}, {"version", each.version}});
  root["packages"] = std::move(packages);
  return json::serialize(root) + "\n";
}

bool allows_http(std::string_view command_line) {
  constexpr std::string_view kArgument = "cupel.http=";
  for (const auto word : words(command_line))
    if (word.starts_with(kArgument)) return word.substr(kArgument.size()) == "yes";
  return false;
}

std::optional<std::string> url_address(const std::string& text) {
  boost::system::error_code bad;
  const auto address = boost::asio::ip::make_address(text, bad);
  return bad ? std::nullopt : std::optional{address.to_string()};
}

std::string why_not_obeyed(const ImageManifest& manifest, const BootServerPlace& server) {
  if (manifest.https_only && !server.has_tls)
    return fmt::format(
        "RAM system {} was built with --ca and takes boot tickets by https alone, and the boot "
        "server has no certificate: machines would boot it and do nothing. Set boot: {{tls: "
        "{{certificate, key, ca}}}} in the inventory, or build another one: cupel image "
        "build NAME --any-boot-server",
        manifest.name);
  if (manifest.boot_host.empty() || manifest.boot_host == url_address(server.host)) return {};
  return fmt::format(
      "RAM system {} was built for the boot server {} (--boot-host), and boot: serve is {}: "
      "machines would boot it and do nothing. Set boot: {{serve}} in the inventory to that "
      "address, or build another one: cupel image build NAME --ca FILE --boot-host {}",
      manifest.name, printable(manifest.boot_host), server.host, server.host);
}

std::string why_not_seeded(std::string_view image, std::string_view no_seed) {
  if (no_seed.empty()) return {};
  return fmt::format(
      "image {} has no place for a seed: {}. Import one with /var/lib/cloud on a root of ext4, XFS "
      "or btrfs, or set os: {{seed: no}} in the profile for an image without cloud-init",
      printable(image), printable(no_seed));
}

const ImageFile* Image::find(std::string_view file) const { return find_file(manifest, file); }

Result<std::filesystem::path> Image::path_of(std::string_view file) const {
  if (find(file) != nullptr) return folder / file;
  std::string has;
  for (const auto& each : manifest.files) has += (has.empty() ? "" : ", ") + each.name;
  return Error{Code::kNotFound,
               fmt::format("image {} has no {}; it has {}", manifest.name, printable(file), has)};
}

std::string Image::digest() const {
  const auto* file = find(manifest.kind == ImageKind::disk ? kDiskFile : "ram.efi");
  return file == nullptr ? "" : file->sha256;
}

std::uint64_t Image::size() const {
  std::uint64_t sum = 0;
  for (const auto& each : manifest.files) sum += each.size;
  return sum;
}

}  // namespace cupel::images
