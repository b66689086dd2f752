# Toxiproxy's server, compiled static, for machines that reach no container registry. Laid out as
# the published image is, so that nobody has to know which of the two runs.
FROM scratch
COPY toxiproxy /toxiproxy
EXPOSE 8474
ENTRYPOINT ["/toxiproxy"]
CMD ["-host=0.0.0.0"]
