#pragma once
// What one machine with a valid ticket is answered: the boot protocol of docs/do/netboot.md.
#include <span>

#include "orchestrator/netboot/open_ticket.h"

namespace cupel::netboot {

/// Of any request but its hello and its final report.
constexpr std::size_t kMostProgress = 4 * 1024;
constexpr std::size_t kMostBody = 256 * 1024;

/// Below the ticket's base URL. `name`: "hello", "ram.efi", "seed/user-data".
images::HttpAnswer answer_boot(const std::shared_ptr<OpenTicket>& ticket, std::string_view name,
                               const images::HttpRequest& request,
                               std::span<const ExpectedMachine> all);

/// What firmware gets that came without the ticket, and is the ticket's node by its MAC address:
/// the file that has the ticket in it, until a machine has said hello with it.
images::HttpAnswer answer_dhcp(const std::shared_ptr<OpenTicket>& ticket, std::string_view name,
                               const images::HttpRequest& request);

/// At the ticket's home URL.
images::HttpAnswer answer_home(const std::shared_ptr<OpenTicket>& ticket,
                               const images::HttpRequest& request,
                               std::span<const ExpectedMachine> all);

}  // namespace cupel::netboot
