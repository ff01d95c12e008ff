#pragma once
// How the servers of a virtual rack come to listen.
#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "base/result.h"
#include "base/task.h"

namespace cupel::rehearsal {

/// kConflict.
Error cannot_listen(const asio::ip::tcp::endpoint& endpoint, const std::string& why);

/// Opens it; it is closed where that fails. Errors: kConflict.
Result<void> listen_at(asio::ip::tcp::acceptor& acceptor, const asio::ip::tcp::endpoint& endpoint);

}  // namespace cupel::rehearsal
