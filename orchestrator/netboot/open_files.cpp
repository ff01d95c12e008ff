#include "orchestrator/netboot/open_files.h"

#include <algorithm>

#include "base/text.h"
#include "orchestrator/netboot/ipxe_script.h"
#include "orchestrator/netboot/uki.h"

namespace cupel::netboot {
namespace {

using images::OpenFile;
using images::Piece;

constexpr std::size_t kMostFiles = 16, kLongestName = 64;
constexpr std::string_view kProgram = "ram.efi", kScript = "boot.ipxe";

bool is_plain(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

Piece part(const OpenFile::Ptr& file, std::uint64_t from, std::uint64_t to) {
  return {.file = file, .offset = from, .size = to - from};
}

std::string ticket_arguments(const Ticket& ticket, const BootOrder& order) {
  return order.ticket_arguments.empty() ? "cupel.boot=" + ticket.base_url : order.ticket_arguments;
}

Result<std::vector<Piece>> with_ticket(const OpenFile::Ptr& program, const std::string& arguments) {
  TRY(const auto section, command_line_section(*program));
  if (section.is_signed) return std::vector{part(program, 0, program->size())};
  TRY(const auto old_text, program->read(section.offset, section.size));
  TRY(auto text, extended_command_line(old_text, arguments));
  const auto behind = section.offset + section.size;
  return std::vector{part(program, 0, section.offset), Piece{.text = std::move(text)},
                     part(program, behind, program->size())};
}

}  // namespace

Result<OpenFile::Ptr> SharedFiles::open(const std::string& path) {
  TRY(auto opened, OpenFile::open_below(folder_, path));
  std::erase_if(open_, [](const auto& entry) { return entry.second.expired(); });
  auto& known = open_[path];
  if (auto same = known.lock(); same && same->is(*opened)) return same;
  known = opened;
  return opened;
}

Result<BootFiles> open_files(SharedFiles& shared, const Ticket& ticket, const BootOrder& order) {
  BootFiles files;
  if (order.files.size() + order.texts.size() > kMostFiles)
    return Error{Code::kInvalid, "a boot ticket has at most 16 files"};
  const auto arguments = ticket_arguments(ticket, order);
  TRY(check_ticket_arguments(arguments));
  for (const auto& [name, path] : order.files) {
    if (!is_plain(name) || name == kScript)
      return Error{Code::kInvalid, "not a name for a file to boot: '" + printable(name) + "'"};
    TRY(auto file, within(name, shared.open(path)));
    if (name != kProgram) {
      files[name] = {part(file, 0, file->size())};
      continue;
    }
    TRY(files[name], within(name, with_ticket(file, arguments)));
  }
  for (const auto& [name, text] : order.texts) {
    if (!is_plain(name) || name == kScript || files.contains(name))
      return Error{Code::kInvalid, "not a name for a text to serve: '" + printable(name) + "'"};
    files[name] = {Piece{.text = text}};
  }
  if (!order.files.contains("vmlinuz") || !order.files.contains("initrd")) return files;
  TRY(auto script, ipxe_script({ticket.base_url, order.kernel_arguments, arguments}));
  files[std::string{kScript}] = {Piece{.text = std::move(script)}};
  return files;
}

bool carries_ticket(const BootFiles& files) {
  const auto program = files.find(kProgram);
  return program != files.end() && program->second.size() > 1;
}

std::string media_type(std::string_view name) {
  if (name.ends_with(".efi")) return "application/efi";
  if (name.ends_with(".iso")) return "application/vnd.efi-iso";
  if (name.ends_with(".ipxe")) return "text/plain";
  return "application/octet-stream";
}

}  // namespace cupel::netboot
