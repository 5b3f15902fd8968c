// Asio's own code, compiled once for this room.
#include <boost/asio/impl/src.hpp>
