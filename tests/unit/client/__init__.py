"""Tests of `lws.client`: pure parts by plain calls, the transport against servers on loopback."""
