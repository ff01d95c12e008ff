// Any bytes as what a RAM system reads of others: the order that answers its hello, the URL of its
// ticket, the disc and the boot entry that lead to it, and what an image or another system has left
// on a disk. What passes is what a shell, a tool and mount(2) can be given.
#include <algorithm>

#include "burnin/agent/node/boot/btrfs_root.h"
#include "burnin/agent/node/boot/efi_entry.h"
#include "burnin/agent/node/boot/iso_file.h"
#include "burnin/agent/node/boot/order.h"
#include "burnin/agent/node/boot/signatures.h"
#include "burnin/agent/node/boot/ticket.h"
#include "burnin/agent/node/efi_variables.h"

namespace {

using namespace cupel::agent;
using namespace cupel::agent::boot;

constexpr std::size_t kMostOfDisc = 64 * 1024;

void must(bool holds) {
  if (!holds) __builtin_trap();
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

bool is_file(std::string_view name) {
  return !name.empty() && !name.starts_with('.') && !name.contains('/') && is_printable(name);
}

void read_order(std::string_view text) {
  const auto order = parse_order(text);
  if (!order) return must(order.error().cause == Cause::kOrder && !order.error().text.empty());
  must(is_printable(order->node) && is_printable(order->hostname));
  for (const auto& key : order->authorized_keys) must(is_printable(key));
  if (order->root) must(is_file(order->root->file) && order->root->sha256.size() == 64);
  if (!order->deploy) return;
  const auto& image = order->image;
  must(is_file(image.file) && image.sha256.size() == 64 && image.content_size > 0);
  must(image.mirror.empty() || (image.mirror.starts_with("http") && is_printable(image.mirror)));
  must(is_printable(order->disk.serial) && is_printable(order->wipe));
  if (!order->boot_entry) return;
  const auto& entry = *order->boot_entry;
  must(entry.efi.starts_with('\\') && !entry.label.starts_with('-') && is_printable(entry.efi));
}

void read_ticket(std::string_view text) {
  const auto base = ticket_base(text);
  if (!base) return;
  must(text.starts_with(std::string_view{*base}.substr(0, base->size() - 1)));
  must(base->ends_with('/') && base->find_first_of(" '\"$`\\;&|<>\n%") == base->npos);
}

void read_disk(std::string_view text) {
  const ReadAt read = [text](std::uint64_t offset, std::size_t count) {
    return offset < text.size() ? std::string{text.substr(offset, count)} : std::string{};
  };
  (void)iso_label(read);
  for (const auto* name : {"TICKET.JSON", "TICKET.JSO"})
    if (const auto file = iso_file(read, name)) must(file->size() <= kMostOfDisc);
  for (const auto& one :
       holds(read, text.size(), {{1, text.size() / 2, text.size() - text.size() / 2}}))
    must(is_printable(one));
}

void read_firmware(std::string_view text) {
  const auto boot = parse_efibootmgr(text);
  const auto is_number = [](const std::string& each) {
    return each.size() == 4 && each.find_first_not_of("0123456789ABCDEFabcdef") == each.npos;
  };
  must(std::ranges::all_of(boot.order, is_number));
  for (const auto& entry : boot.entries) must(is_number(entry.number));
  if (const auto option = parse_load_option(text))
    must(option->label.size() <= 64 && option->path.size() <= 64);
}

void read_fstab(std::string_view text) {
  const auto line = cupel::fstab_over_seed(text);
  if (!line) return;
  must(line->place.starts_with("/var"));
  const auto subvolume = subvolume_of(*line, "0a1b2c3d", "part");
  must(!subvolume.contains(',') && !subvolume.contains("..") && !subvolume.starts_with('/'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  read_order(text);
  read_ticket(text);
  read_disk(text);
  read_firmware(text);
  read_fstab(text);
  return 0;
}
