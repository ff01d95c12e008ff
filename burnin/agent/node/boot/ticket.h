#pragma once
// This boot's permission: the URL of its ticket, by whichever way it came.
#include <optional>
#include <string>
#include <string_view>

#include "burnin/agent/node/boot/failure.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent::boot {

struct BootTicket {
  std::string url{};        // "http://10.0.0.1:8080/boot/<32 hex digits>/"
  std::string_view from{};  // "cmdline", "media", "efi", "dhcp"
};

/// The ticket's base of a URL below it ("…/ram.efi"); nothing where it is no ticket's. Only what
/// cannot be taken for anything else by a shell, a terminal or curl.
std::optional<std::string> ticket_base(std::string_view url);

/// In this order, the first that has one: the kernel's command line (cupel.boot=), a volume
/// labelled CUPEL with ticket.json, the URI in the device path that the firmware booted
/// (BootCurrent), and the boot file of our own DHCP lease (/run/cupel/lease, "bootfile="). A system
/// that was built with certificates (/etc/cupel/ca.pem) takes https alone, unless its command line
/// says cupel.http=yes. One without certificates takes none, unless it was built to obey each
/// server (/etc/cupel/any-boot-server) or its command line says so. One that was built with its
/// boot server's address (/etc/cupel/boot-host) takes a URL of that address alone. Errors:
/// kNoTicket, saying what each way had.
Outcome<BootTicket> find_ticket(const Tree& tree);

/// Of a URL that somebody types at the console (--url): by the same rules, since who reads it out
/// may be another server's. Errors: kNoTicket.
Outcome<BootTicket> ticket_of(const Tree& tree, std::string_view url);

}  // namespace cupel::agent::boot
