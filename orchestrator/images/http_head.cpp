#include "orchestrator/images/http_head.h"

#include <fmt/format.h>

#include <boost/beast/http/status.hpp>

namespace cupel::images {
namespace {

constexpr unsigned kOk = 200, kPartial = 206, kUnsatisfiable = 416;

}  // namespace

HttpReply reply_of(const HttpAnswer& answer, std::string_view range) {
  HttpReply reply{.status = answer.status};
  for (const auto& piece : answer.body) reply.whole_size += piece.length();
  reply.bytes = {0, reply.whole_size};
  reply.pieces = answer.body;
  if (!answer.ranges || answer.status != kOk) return reply;
  const auto requested = requested_range(range, reply.whole_size);
  if (requested.answer == RangeAnswer::whole) return reply;
  const bool part = requested.answer == RangeAnswer::part;
  reply.status = part ? kPartial : kUnsatisfiable;
  reply.bytes = requested.bytes;
  reply.pieces = part_of(answer.body, requested.bytes.first, requested.bytes.size);
  return reply;
}

std::string head_of(const HttpAnswer& answer, const HttpReply& reply, bool keep_alive) {
  const auto status = static_cast<boost::beast::http::status>(reply.status);
  auto text =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Length: {}\r\nConnection: {}\r\n", reply.status,
                  std::string_view{boost::beast::http::obsolete_reason(status)}, reply.bytes.size,
                  keep_alive ? "keep-alive" : "close");
  if (!answer.allow.empty()) text += fmt::format("Allow: {}\r\n", answer.allow);
  if (answer.retry_after > 0) text += fmt::format("Retry-After: {}\r\n", answer.retry_after);
  if (!answer.body.empty()) text += fmt::format("Content-Type: {}\r\n", answer.type);
  if (answer.ranges) text += "Accept-Ranges: bytes\r\n";
  if (reply.status == kPartial)
    text += fmt::format("Content-Range: bytes {}-{}/{}\r\n", reply.bytes.first,
                        reply.bytes.first + reply.bytes.size - 1, reply.whole_size);
  if (reply.status == kUnsatisfiable)
    text += fmt::format("Content-Range: bytes */{}\r\n", reply.whole_size);
  return text + "\r\n";
}

}  // namespace cupel::images
