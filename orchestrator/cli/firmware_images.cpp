// `cupel firmware sign` and `digest`: the manifest of the images that may be written.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "base/digest.h"
#include "base/file.h"
#include "base/ownership.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/image_manifest.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/signing_key.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kLargestManifest = 4u << 20;

struct SignAsked {
  std::string manifest{}, key{};
  bool approve = false;

  std::string file() const {
    return approve ? inventory::approval_file_of(manifest) : inventory::signature_file_of(manifest);
  }
};

Result<std::string> signed_manifest(const SignAsked& asked) {
  TRY(const auto text, read_trusted_file(asked.manifest, kLargestManifest));
  TRY(const auto manifest, inventory::parse_image_manifest(text, asked.manifest));
  TRY(const auto key, signing_key(asked.key));
  TRY(const auto signature, within(asked.key, key.sign(text)));
  const auto file = asked.file();
  TRY(write_file(file, signature, kReadableByAll));
  return fmt::format("{}: {} images signed, in {}", asked.manifest, manifest.images.size(), file);
}

Exit sign_manifest(const Context& context, const SignAsked& asked) {
  auto done = signed_manifest(asked);
  if (!done) return print_error(context, done.error(), Exit::invalid);
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"signature", asked.file()}}));
  else
    say("{}\n", printable(*done));
  return Exit::passed;
}

struct FileDigest {
  std::string sha256{};
  std::uint64_t bytes = 0;
};

Result<FileDigest> digest_of(const std::string& file) {
  if (const auto why = why_no_file(file)) return Error{Code::kInvalid, *why};
  std::ifstream stream{file, std::ios::binary};
  if (!stream) return Error{Code::kInvalid, file + ": cannot be read"};
  std::vector<char> piece(1u << 20);
  Sha256 sum;
  FileDigest digest;
  while (stream) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto got = static_cast<std::size_t>(stream.gcount());
    sum.add({piece.data(), got});
    digest.bytes += got;
  }
  if (stream.bad()) return Error{Code::kInvalid, file + ": cannot be read to its end"};
  digest.sha256 = sum.hex();
  return digest;
}

struct DigestAsked {
  std::vector<std::string> files{};
  std::string vendor{}, model{}, component{}, version{}, expires{};
};

std::string in_quotes(std::string_view text) {
  return boost::json::serialize(boost::json::value(valid_utf8(text)));
}

std::string default_expiry() {
  const auto day = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return fmt::format("{:%F}", day + std::chrono::days{365});
}

/// An entry of the manifest. What was not given stands empty, and is not signed before it is filled
/// in.
std::string entry_of(const DigestAsked& asked, const std::string& file, const FileDigest& digest) {
  const auto name = std::filesystem::path{file}.filename().string();
  return fmt::format(
      "  - file: {}\n"
      "    vendor: {}\n"
      "    model: [{}]\n"
      "    component: {}\n"
      "    version: {}\n"
      "    sha256: {}\n"
      "    size: {}\n"
      "    expires: {}\n",
      in_quotes(printable(name)), in_quotes(asked.vendor), in_quotes(asked.model),
      in_quotes(asked.component), in_quotes(asked.version), digest.sha256, digest.bytes,
      asked.expires.empty() ? default_expiry() : asked.expires);
}

Exit print_digests(const Context& context, const DigestAsked& asked) {
  std::string text = "images:\n";
  boost::json::array all;
  for (const auto& file : asked.files) {
    const auto digest = digest_of(file);
    if (!digest) return print_error(context, digest.error(), Exit::invalid);
    text += entry_of(asked, file, *digest);
    all.push_back({{"file", file}, {"sha256", digest->sha256}, {"size", digest->bytes}});
  }
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"images", std::move(all)}}));
  else
    say("{}", text);
  return Exit::passed;
}

}  // namespace

CommandRow sign_command(Context& context) {
  const auto asked = std::make_shared<SignAsked>();
  CommandRow row{"sign", "sign a manifest of images with the site's key"};
  row.footer =
      "A key: openssl genpkey -algorithm ed25519 -out site.key && chmod 600 site.key\n"
      "       openssl pkey -in site.key -pubout -out site.pub\n"
      "Example: cupel firmware sign images.yaml --key site.key";
  row.options = {
      {"MANIFEST", &asked->manifest, "images.yaml; the signature is images.yaml.sig", kRequired},
      {"--key", &asked->key, kSigningKeyHelp, kRequired},
      {"--approve", &asked->approve,
       "approve its downgrades as the second person: writes images.yaml.approval"},
      json_flag(context)};
  row.run = [&context, asked] { return sign_manifest(context, *asked); };
  return row;
}

CommandRow digest_command(Context& context) {
  const auto asked = std::make_shared<DigestAsked>();
  CommandRow row{"digest", "print entries of a manifest for image files"};
  row.footer =
      "Example: cupel firmware digest bmc.fwpkg --vendor NVIDIA --model 'DGXH100*' \\\n"
      "           --component HostBMC_0 --version 24.09.17";
  row.options = {{"FILES", &asked->files, "images", kRequired},
                 {"--vendor", &asked->vendor, "of the machines, as their BMC reports it"},
                 {"--model", &asked->model, "of the machines, with * for any characters"},
                 {"--component", &asked->component, "as the profile calls it"},
                 {"--version", &asked->version, "that the image brings"},
                 {"--expires", &asked->expires, "such as 2027-11-01 [in a year]"},
                 json_flag(context)};
  row.run = [&context, asked] { return print_digests(context, *asked); };
  return row;
}

}  // namespace cupel::cli
