#pragma once
// Notices as they are sent: JSON for a webhook, one text for a Slack-compatible hook, a mail. Pure.
#include "orchestrator/api/notice_queue.h"

namespace cupel::api {

struct NoticeMessage {
  std::string id{};
  std::string site{};
  engine::WallTime time{};  // when it is sent
  std::vector<Notice> notices{};
  std::size_t dropped = 0;
};

/// Every text of the object, at any depth, made printable and shortened: it may come from a BMC.
void make_sendable(boost::json::value& value);

/// "Cupel here: 2 halt, 1 end".
std::string notice_subject(const NoticeMessage& message);

/// {"schema": 1, "id", "site", "time", "notices": [...], "dropped"}; 256 KiB at most.
std::string webhook_body(const NoticeMessage& message);
/// {"text": "..."}, with `&`, `<` and `>` escaped. Source: Slack, "Formatting text for app
/// surfaces", Escaping text.
std::string slack_body(const NoticeMessage& message);
/// A whole message with its header. Source: RFC 5322; RFC 2045, 6.8 (the body is base64).
std::string mail_text(const NoticeHook& hook, const NoticeMessage& message);

}  // namespace cupel::api
