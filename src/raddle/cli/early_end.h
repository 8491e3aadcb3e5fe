#pragma once

namespace raddle::cli {

/// While it lives the command is under way. Whoever ends the process then, by exit(), quick_exit(),
/// or with status 0 by _exit() or _Exit(), as a policy of a plug-in may, must not look like
/// success: the status is 1, and a line says so.
class CommandUnderWay {
 public:
  CommandUnderWay();
  ~CommandUnderWay();
  CommandUnderWay(const CommandUnderWay&) = delete;
  CommandUnderWay& operator=(const CommandUnderWay&) = delete;
};

}  // namespace raddle::cli
