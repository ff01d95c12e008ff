#include "burnin/agent/node/boot/order.h"

#include <algorithm>

#include "base/text.h"
#include "burnin/agent/common/json_value.h"

namespace cupel::agent::boot {
namespace {

constexpr std::size_t kMostText = 256;
constexpr std::size_t kMostUrl = 512;
constexpr std::size_t kMostKey = 8192;
constexpr std::size_t kMostKeys = 64;

Failure wrong(std::string_view key, std::string_view expected) {
  return {Cause::kOrder, "the order: " + std::string{key} + ": expected " + std::string{expected}};
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

/// Absent: nothing is changed.
Outcome<void> read_text(const JsonValue& from, std::string_view key, std::string& into,
                        std::size_t most = kMostText) {
  const auto* value = from.find(key);
  if (value == nullptr) return {};
  const auto* text = value->text();
  if (text == nullptr || text->size() > most || !is_printable(*text))
    return wrong(key, "printable text of at most " + std::to_string(most) + " bytes");
  into = *text;
  return {};
}

Outcome<void> read_count(const JsonValue& from, std::string_view key, std::uint64_t& into) {
  const auto* value = from.find(key);
  if (value == nullptr) return {};
  const auto count = value->count();
  if (!count) return wrong(key, "a whole number");
  into = *count;
  return {};
}

Outcome<void> read_count(const JsonValue& from, std::string_view key,
                         std::optional<std::uint64_t>& into) {
  std::uint64_t count = 0;
  TRY(read_count(from, key, count));
  if (from.find(key) != nullptr) into = count;
  return {};
}

Outcome<void> read_flag(const JsonValue& from, std::string_view key, bool& into) {
  const auto* value = from.find(key);
  if (value == nullptr) return {};
  if (value->boolean() == nullptr) return wrong(key, "true or false");
  into = *value->boolean();
  return {};
}

bool is_digest(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// One name below the ticket, never a path.
bool is_file_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && !text.starts_with('.') &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

bool is_hostname(std::string_view text) {
  return text.size() <= 64 && is_printable(text) && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '-';
         });
}

/// A line of authorized_keys is one key; more than one line would be more than one key.
Outcome<void> read_keys(const JsonValue& from, std::vector<std::string>& into) {
  const auto* value = from.find("authorized_keys");
  if (value == nullptr) return {};
  const auto* all = value->array();
  if (all == nullptr || all->size() > kMostKeys) return wrong("authorized_keys", "up to 64 keys");
  for (const auto& each : *all) {
    const auto* key = each.text();
    if (key == nullptr || key->size() > kMostKey || !is_printable(*key))
      return wrong("authorized_keys", "a key on one line");
    into.push_back(*key);
  }
  return {};
}

Outcome<void> read_root(const JsonValue& from, std::optional<RootFile>& into) {
  const auto* root = from.find("root");
  if (root == nullptr || root->is_null()) return {};
  RootFile file;
  TRY(read_text(*root, "file", file.file));
  TRY(read_text(*root, "sha256", file.sha256));
  TRY(read_count(*root, "size", file.size));
  if (!is_file_name(file.file) || !is_digest(file.sha256))
    return wrong("root", "file, sha256 and size");
  into = std::move(file);
  return {};
}

Outcome<void> read_image(const JsonValue& from, ImageOrder& image) {
  const auto* given = from.find("image");
  if (given == nullptr || given->object() == nullptr) return wrong("image", "an object");
  std::string compression = "zstd";
  TRY(read_text(*given, "name", image.name));
  TRY(read_text(*given, "file", image.file));
  TRY(read_text(*given, "mirror", image.mirror, kMostUrl));
  TRY(read_text(*given, "sha256", image.sha256));
  TRY(read_text(*given, "compression", compression));
  TRY(read_count(*given, "size", image.size));
  TRY(read_count(*given, "content_size", image.content_size));
  if (!is_file_name(image.file)) return wrong("image.file", "a file's name");
  if (!is_digest(image.sha256)) return wrong("image.sha256", "64 lower-case hex digits");
  if (image.size == 0 || image.content_size == 0)
    return wrong("image", "size and content_size above 0");
  if (!image.mirror.empty() && !image.mirror.starts_with("http://") &&
      !image.mirror.starts_with("https://"))
    return wrong("image.mirror", "an URL of http or https");
  if (compression != "zstd") return wrong("image.compression", "zstd");
  return {};
}

Outcome<void> read_disk(const JsonValue& from, DiskHint& hint) {
  const auto* given = from.find("disk");
  if (given == nullptr || given->object() == nullptr) return wrong("disk", "an object");
  TRY(read_text(*given, "serial", hint.serial));
  TRY(read_text(*given, "wwn", hint.wwn));
  TRY(read_text(*given, "model", hint.model));
  TRY(read_count(*given, "size_min", hint.size_min));
  TRY(read_count(*given, "size_max", hint.size_max));
  // A hint that is not understood must not widen the choice.
  for (const auto& [key, value] : *given->object())
    if (key != "serial" && key != "wwn" && key != "model" && key != "size_min" && key != "size_max")
      return wrong("disk", "serial, wwn, model, size_min or size_max, not " + printable(key));
  return {};
}

Outcome<void> read_entry(const JsonValue& from, std::optional<BootEntry>& into) {
  const auto* given = from.find("boot_entry");
  if (given == nullptr || given->is_null()) return {};
  BootEntry entry;
  TRY(read_text(*given, "label", entry.label));
  TRY(read_text(*given, "efi", entry.efi));
  TRY(read_flag(*given, "network_first", entry.network_first));
  TRY(read_flag(*given, "network_drop", entry.network_drop));
  if (entry.network_first && entry.network_drop)
    return wrong("boot_entry", "one of network_first and network_drop");
  if (entry.label.empty() || entry.label.size() > 64 || entry.label.starts_with('-'))
    return wrong("boot_entry.label", "a name of at most 64 bytes");
  if (!entry.efi.starts_with('\\') || entry.efi.find("..") != std::string::npos)
    return wrong("boot_entry.efi", "a path such as \\EFI\\debian\\shimx64.efi");
  into = std::move(entry);
  return {};
}

Outcome<void> read_deploy(const JsonValue& from, Order& order) {
  TRY(read_image(from, order.image));
  TRY(read_disk(from, order.disk));
  TRY(read_text(from, "wipe", order.wipe));
  TRY(read_flag(from, "grow", order.grow));
  TRY(read_flag(from, "seed", order.seed));
  TRY(read_entry(from, order.boot_entry));
  TRY(read_flag(from, "bios", order.bios));
  std::string erase = "none";
  TRY(read_text(from, "erase", erase));
  if (erase != "none" && erase != "nvme" && erase != "ata")
    return wrong("erase", "none, nvme or ata");
  order.erase = erase == "nvme" ? Erase::kNvme : erase == "ata" ? Erase::kAta : Erase::kNone;
  return {};
}

}  // namespace

Outcome<Order> parse_order(std::string_view json) {
  const auto parsed = JsonValue::parse(json);
  if (!parsed) return Failure{Cause::kOrder, "the order: " + parsed.error().what};
  const auto& from = *parsed;
  std::uint64_t version = 0;
  TRY(read_count(from, "version", version));
  if (version != 1) return wrong("version", "1");
  Order order;
  std::string action;
  TRY(read_text(from, "node", order.node));
  TRY(read_text(from, "action", action));
  TRY(read_text(from, "hostname", order.hostname));
  if (!is_hostname(order.hostname)) return wrong("hostname", "letters, digits, '.' and '-'");
  TRY(read_keys(from, order.authorized_keys));
  TRY(read_root(from, order.root));
  if (action != "stay" && action != "deploy") return wrong("action", "stay or deploy");
  order.deploy = action == "deploy";
  if (order.deploy) {
    TRY(read_deploy(from, order));
  }
  return order;
}

}  // namespace cupel::agent::boot
